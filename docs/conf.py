"""How the site is built: `make docs`.

Nothing is loaded from the network. There is no intersphinx: the docstrings name types of other packages in plain words,
and no inventory of others has to be kept.
"""

from __future__ import annotations

import inspect
import os
import re
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

import boxwood
import boxwood.explanation

HERE = Path(__file__).parent
HAS_GALLERY = any((HERE / "gallery").glob("*.py"))

project = "boxwood"
author = "the authors of boxwood"
copyright = "the authors of boxwood. BSD-3-Clause"
release = version = version_of("boxwood")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "gallery/*", "architecture.md"]  # CONTRIBUTING links to what contributors read
templates_path = ["templates"]

# ------------------------------------------------------------------------------------------------ what fails a build

nitpicky = True
default_role = "obj"

# ------------------------------------------------------------------------------------------------------------- pages

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "html_image"]
myst_dmath_double_inline = True
html_math_renderer = "mathml"  # browsers draw it, so no page loads a script from elsewhere
myst_heading_anchors = 3

# --------------------------------------------------------------------------------------------------------- reference

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say types, and shapes with them
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False  # the templates list them
numpydoc_class_members_toctree = False
add_module_names = False
toc_object_entries_show_parents = "hide"

# ------------------------------------------------------------------------------------------------------------- theme

html_theme = "pydata_sphinx_theme"
html_title = f"boxwood {release}"
html_show_sourcelink = False
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "static" / "scorer.js")
html_favicon = "static/icon.svg"
ALONE = ("benchmarks", "changelog", "citing", "glossary", "methods", "their-bug")  # without pages below them
html_sidebars = {name: [] for name in ALONE}
html_theme_options: dict[str, Any] = {
    "logo": {"text": "boxwood"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright", "cite"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
}
html_context = {"default_mode": "auto"}

if HAS_GALLERY:
    extensions.append("sphinx_gallery.gen_gallery")
    sphinx_gallery_conf = {
        "examples_dirs": ["gallery"],
        "gallery_dirs": ["auto_gallery"],  # kept between builds: a script that is the same is not run again
        "filename_pattern": r"\.py$",
        "within_subsection_order": "FileNameSortKey",
        "download_all_examples": False,
        "show_memory": False,
        "write_computation_times": False,
        "show_signature": False,
        "remove_config_comments": True,
        "abort_on_example_error": False,
        "plot_gallery": os.environ.get("GALLERY") != "0",
    }


UNDER = re.compile(r"<munderover>\s*(<mi>.*?</mi>)\s*(<m[in]>.*?</m[in]>)\s*(<mo[^>]*>[ˆˉ]</mo>)\s*</munderover>")
"""A letter with an accent and an index, which the converter puts below it."""


def mathml(node: nodes.Element, as_block: bool) -> str:
    """Return a formula as MathML; what docutils' converter lacks, or puts below a letter, is written in other words."""
    text = re.sub(r"\\tfrac(\d)(\d)", r"\\frac{\1}{\2}", node.astext()).replace(r"\dots", r"\ldots")
    text = re.sub(r"\\tag\{(.*?)\}", r"\\qquad \\text{(\1)}", text)
    return UNDER.sub(r"<msub><mover>\1\3</mover>\2</msub>", tex2mathml(text, as_block=as_block))


def visit_math(self: Any, node: nodes.Element) -> None:
    """Write a formula in a line."""
    self.body.append(mathml(node, False))
    raise nodes.SkipNode


def visit_math_block(self: Any, node: nodes.Element) -> None:
    """Write a formula that stands alone; on small screens it scrolls."""
    self.body.append(f'<div tabindex="0" style="overflow-x: auto">{mathml(node, True)}</div>')
    raise nodes.SkipNode


PICTURE = re.compile(r"^\.\. (?:image-sg|rst-class:: sphx-glr-horizontal).*?(?=^\.\. |^\S)", re.MULTILINE | re.DOTALL)
CODE = ".. GENERATED FROM PYTHON SOURCE LINES"


def picture_first(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the first picture of a page of the gallery before the code that draws it."""
    first = PICTURE.search(source[0]) if page.startswith("auto_gallery/plot_") else None
    if first and (code := source[0].find(".. code-block:: Python")) >= 0:
        rest = source[0][: first.start()] + source[0][first.end() :]
        at = rest.rfind(CODE, 0, code)
        source[0] = f"{rest[:at]}{first[0]}\n\n{rest[at:]}"


def of_boxwood(member: Any) -> bool:
    """Say whether a member of a class is written here: scikit-learn's manual has its own."""
    function = inspect.unwrap(getattr(member, "fget", None) or getattr(member, "__func__", member))
    return str(getattr(function, "__module__", "")).startswith("boxwood")


def skip_member(app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what classes inherit from packages of others."""
    return True if what == "class" and not of_boxwood(member) else None


def without_private(
    app: Sphinx, what: str, name: str, member: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Leave out of a signature what is not meant to be given."""
    return signature and re.sub(r", _\w+=[^,)]+", "", signature), returns


def resolve_name(app: Sphinx, env: BuildEnvironment, node: pending_xref, text: nodes.Element) -> nodes.Element | None:
    """Link a name in single backticks of a docstring to what it names, or show it as code.

    Docstrings name parameters and snippets as they name functions, so a name that leads nowhere is code, unless it is
    said to be one of boxwood: then the build fails.
    """
    if node.get("refdomain") != "py" or node.get("reftype") != "obj":
        return None
    target = node["reftarget"].removeprefix("bw.").removeprefix("boxwood.")
    objects = env.get_domain("py").objects
    owner, _, member = target.rpartition(".")
    if not target.replace(".", "").isidentifier():
        return nodes.literal(text.astext(), text.astext())
    for wanted in (target, owner if is_field(owner, member) else target):
        found = [name for name in objects if f".{name}".endswith(f".{wanted}")]
        depth = min((name.count(".") for name in found), default=0)
        nearest = [name for name in found if name.count(".") == depth]
        if len(nearest) == 1:
            known = objects[nearest[0]]
            return make_refnode(app.builder, node["refdoc"], known.docname, known.node_id, text, node["reftarget"])
        if found:  # a method of several classes
            return nodes.literal(text.astext(), text.astext())
    is_of_boxwood = target != node["reftarget"] or f"boxwood.{owner}" in objects
    return None if is_of_boxwood else nodes.literal(text.astext(), text.astext())


def is_field(owner: str, name: str) -> bool:
    """Say whether the docstring of a public class tells of an attribute; these have no place of their own."""
    of = next((one for one in (boxwood, boxwood.explanation) if hasattr(one, owner)), None)
    told = inspect.getdoc(getattr(of, owner)) if of and owner else ""
    return bool(re.search(rf"^(\w+, )*{name}(, \w+)* :", told or "", re.MULTILINE))


def setup(app: Sphinx) -> None:
    """Add what the pages need."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.connect("source-read", picture_first)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-signature", without_private)
    app.connect("missing-reference", resolve_name)
