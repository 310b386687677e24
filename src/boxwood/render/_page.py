"""`page`: an explanation as one file for a browser, which loads nothing; `short_page`: its short form for notebooks.

The facts come from the files `_page_*.py` as plain data, the templates in the folder `page` place them. Counts that are
to be rounded are rounded before, in the explanation itself. Texts of others, such as names of columns, are escaped by
the templates. Nothing else may run: the content-security policy allows one script and one style, by their hashes.
"""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from boxwood._extras import require
from boxwood._validation import listed, shown, whole_number
from boxwood.errors import DataError
from boxwood.render._colours import COLOURS, ink_on
from boxwood.render._exporters import EXPORTERS
from boxwood.render._figures import LONGEST_NAME
from boxwood.render._grown_by import grown_by
from boxwood.render._guard import profile_or_none, rounded
from boxwood.render._page_charts import frontier_charts, stability_tables
from boxwood.render._page_facts import cards, confusion, lede, losses, tiles
from boxwood.render._page_profile import profile_table
from boxwood.render._page_tree import LARGEST, outline_of_tree, text_of_tree, tree_shapes
from boxwood.render._page_what_if import what_if
from boxwood.render._picture import picture_of
from boxwood.render._rules import explanation_of, printable
from boxwood.render._text import tells_price

if TYPE_CHECKING:
    from boxwood.explanation import Explanation
    from boxwood.explanation._profile_fields import ColumnProfile

__all__ = ["in_notebook", "page", "short_page"]

_FORMS = {
    "sql": "SQL",
    "python": "Python",
    "javascript": "JavaScript",
    "formula": "Spreadsheet formula for row 2 under a row of names",
}  # of EXPORTERS, as far as it has them
_LONGEST_CODE = 100_000  # characters of one form
_CHEAP = 10_000_000  # numbers in a table times clusters, up to which its frontier is computed for the page


def page(model: Any, *, title: str | None = None, min_count: int | None = None) -> str:
    """Return the report; see `Explanation.to_html`."""
    if not (title is None or isinstance(title, str)):
        raise TypeError(f"title must be text, got {shown(title)}")
    ex, least = explanation_of(model), 1 if min_count is None else whole_number("min_count", min_count, 1)
    has_price = min_count is None and tells_price(ex)  # a price is of single rows
    ex = ex if min_count is None else rounded(ex, least)
    facts = _facts(ex, profile_or_none(ex), has_price)
    facts |= {"rules": what_if(ex, picture_of(ex), facts["outline"], least), "min_count": min_count}
    facts["frontier"] = None if min_count else _frontier(ex, has_price)
    stability = ex._kept.get("stability")
    facts["stability"] = None if stability is None else stability_tables(stability, picture_of(ex))
    facts["code"] = _code(ex)
    facts["notes"] += _note_on_what_is_missing(ex, facts)
    return _written("page.html", facts, _title(ex, title), script=_file("page.js"))


def short_page(model: Any) -> tuple[str, int]:
    """Return the short form of the report, as a page of its own without a script, and about its height in pixels.

    Like the printed explanation, it tells counts of any number of rows.
    """
    ex = explanation_of(model)
    facts = _facts(ex, (), tells_price(ex))
    drawn = picture_of(ex).height if facts["tree"] else 0
    height = 330 + drawn + 34 * sum(max(len(cluster.rules), 1) for cluster in ex.clusters)
    return _written("short.html", facts, _title(ex, None), script=""), round(min(height, 1200))


def in_notebook(ex: Explanation) -> str:
    """Return the short form for a notebook: in a frame, so that neither style reaches the other.

    Without the page's extra, or if anything goes wrong, it is the printed explanation.
    """
    try:
        short, height = short_page(ex)
    except Exception:  # a representation is never an error
        return f"<pre>{html.escape(str(ex))}</pre>"
    return (
        f'<iframe title="boxwood: {html.escape(_title(ex, None))}" sandbox="" srcdoc="{html.escape(short)}" '
        f'style="width:100%;height:{height}px;border:0;resize:vertical;overflow:auto"></iframe>'
    )


# ----------------------------------------------------------------------------------------------------------- facts


def _facts(ex: Explanation, profile: tuple[ColumnProfile, ...], has_price: bool) -> dict[str, Any]:
    """Return what both forms show."""
    picture = picture_of(ex)
    tree = tree_shapes(picture) if 1 < ex.n_leaves <= LARGEST else None
    return {
        "ex": ex,
        "lede": lede(ex),
        "tiles": tiles(ex, has_price),
        "tree": tree,
        "outline": outline_of_tree(ex, picture),
        "swatches": picture.swatches,
        "cards": cards(ex, picture, profile),
        "profile": profile_table(ex, profile) if profile else None,
        "losses": losses(picture),
        "confusion": confusion(ex, picture),
        "grown_by": grown_by(ex.method),
        "notes": list(map(printable, ex.notes)),
        "has_rows": ex._evidence is not None,
    }


def _frontier(ex: Explanation, has_price: bool) -> dict[str, Any] | None:
    """Return the frontier if it is known or can be had quickly."""
    known = ex._kept.get("frontier")
    if known is None and ex._evidence is not None and ex.n_rows * len(ex.columns) * ex.n_clusters <= _CHEAP:
        try:
            known = ex.frontier()
        except DataError:
            return None
    return None if known is None else frontier_charts(known, price=has_price)


def _note_on_what_is_missing(ex: Explanation, facts: Mapping[str, Any]) -> list[str]:
    """Return a note on the parts of the page that need rows, if the model was read from a file and holds none."""
    if ex._evidence is not None or ex._table is not None:
        return []
    parts = {
        "profile": "the profile of the columns",
        "confusion": "where rules and clusters disagree",
        "frontier": "what more or fewer leaves would do",
    }
    missing = [what for name, what in parts.items() if not facts[name]]
    if not missing:
        return []
    return [
        f"the model was read from a file, which holds no rows, so this page is without {listed(missing)}. The page "
        "that is written from the table has them (boxwood explain FILE -o report.html); profile() and frontier() "
        "before save put theirs into the model"
    ]


def _code(ex: Explanation) -> list[dict[str, str]]:
    """Return the rules in the forms that can be copied; a form that cannot be had says why."""
    forms = [("Text", text_of_tree(ex, picture_of(ex)))]
    for name, label in _FORMS.items():
        if name in EXPORTERS:
            try:
                forms.append((label, EXPORTERS[name].write(ex)))
            except (DataError, ImportError, ValueError) as error:
                forms.append((label, f"({error})"))
    return [{"name": label, "text": text if len(text) <= _LONGEST_CODE else _TOO_LONG} for label, text in forms]


_TOO_LONG = "(This form is too long for a page; Python and the command line write it.)"


def _title(ex: Explanation, title: str | None) -> str:
    return printable(title) if title else f"{ex.n_clusters:,} clusters of {ex.n_rows - ex.n_left_out:,} rows"


# ------------------------------------------------------------------------------------------------------- templates


def _written(template: str, facts: dict[str, Any], title: str, script: str) -> str:
    jinja = _environment()
    style = jinja.get_template("style.css").render(
        colours=[(colour, ink_on(colour)) for colour in COLOURS], width=facts["tree"] and facts["tree"]["width"]
    )
    policy = "default-src 'none'; base-uri 'none'; form-action 'none'; "
    policy += f"style-src '{_hash(style)}'; script-src '{_hash(script)}'" if script else f"style-src '{_hash(style)}'"
    text: str = jinja.get_template(template).render(
        **facts, title=title, policy=policy, style=style, script=script, version=_version()
    )
    return text.encode("utf-8", "replace").decode("utf-8")  # halves of characters have no form in a file


@cache
def _environment() -> Any:
    jinja2 = require("jinja2", "page", "the report")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_file),
        autoescape=lambda name: name is None or not name.endswith(".css"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["short"] = _shortened
    return environment


def _shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name, cut in the middle if it is long."""
    half = longest // 2
    return name if len(name) <= longest else f"{name[: half - 1]}…{name[-half:]}"


def _file(name: str) -> str:
    """Return a file of the folder `page`."""
    return files("boxwood.render").joinpath("page", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash by which a content-security policy knows a script or a style."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _version() -> str:
    from boxwood import __version__

    return __version__
