"""Templates of the folder `page`, filled: a page of its own that loads nothing, and a frame around it for notebooks.

Texts of others, such as names of columns, are escaped. Nothing else may run: the content-security policy allows one
script and one style, by their hashes, and workers and pictures of that script.
"""

from __future__ import annotations

import html
import json
import re
import zlib
from base64 import b64encode, urlsafe_b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from boxwood._imports import require
from boxwood._version import __version__
from boxwood.render.page._compiled import compiled_templates
from boxwood.render.pictures.swatches import COLOURS, PATTERNS, class_of, colour_of, ink_on
from boxwood.words.rule_heads import RULE_HEADS
from boxwood.words.values import shorten_name

_MOST_PIXELS = 4000  # of a frame
_DARK = (  # the ink around the frame is light: so is the ink inside
    "const e=this.contentDocument.documentElement,i=getComputedStyle(this).color.match(/[0-9.]+/g);"
    "e.dataset.theme=+i[0]+ +i[1]+ +i[2]>382?'dark':'light';this.style.colorScheme=e.dataset.theme;"
)


def frame_page(title: str, page: str, height: int) -> str:
    """Return a frame as high as its page, once that is laid out; `height` is about that, where nothing may ask.

    No script runs inside. The frame has the notebook's origin, so that the notebook can ask for its height.
    """
    ask = f"{_DARK}this.style.height='0';this.style.height=Math.min(e.scrollHeight+2,{_MOST_PIXELS})+'px'"
    style = f"width:100%;height:{min(height, _MOST_PIXELS)}px;border:0;resize:vertical;overflow:auto"
    return (
        f'<iframe title="boxwood: {html.escape(title)}" sandbox="allow-same-origin" srcdoc="{html.escape(page)}" '
        f'onload="{ask}" style="{style}"></iframe>'
    )


def stripes(n_clusters: int) -> dict[str, Any]:
    """Return the colours of the clusters, and the stripes of those that have some."""
    colours = _colours(n_clusters)
    return {"colours": colours, "hatches": [(i, angle) for i, _, _, angle in colours if angle is not None]}


def _colours(n_clusters: int) -> list[tuple[int, str, str, int | None]]:
    """Return the colours of the clusters: the number, the colour, the ink on it, and the degrees of its stripes."""
    n = min(max(n_clusters, len(COLOURS)), len(COLOURS) * len(PATTERNS))
    colours = [(i, colour_of(i), PATTERNS[i // len(COLOURS)]) for i in range(n)]
    return [(i, colour, ink_on(colour), angle) for i, colour, angle in colours]


def fill_template(template: str, facts: dict[str, Any], title: str, script: str) -> str:
    """Return a page that loads nothing, with its style and the policy of what may run."""
    tree = facts["tree"] or {"width": None, "paper": None}
    style = fill_part("style.css", {"colours": facts["colours"], "width": tree["width"], "paper": tree["paper"]})
    policy = "default-src 'none'; base-uri 'none'; form-action 'none'; "
    policy += f"style-src '{_hash(style)}'"
    policy += f"; script-src '{_hash(script)}'; worker-src blob:; img-src blob:" if script else ""
    about = {"title": title, "policy": policy, "style": style, "script": script, "version": __version__}
    return fill_part(template, facts | about)


def fill_part(template: str, facts: dict[str, Any]) -> str:
    """Return a template of the folder with some facts: a page, a part of one, or a style."""
    text: str = _environment().get_template(template).render(facts)
    return text.encode("utf-8", "replace").decode("utf-8")  # halves of characters have no form in a file or a message


def picture_alone(title: list[str], tree: dict[str, Any], colours: dict[str, Any]) -> str:
    """Return the picture of a tree below the lines of its title as SVG, with the page's style for light paper."""
    style = fill_part("style.css", {"colours": colours["colours"], "width": None, "paper": None})
    own = "svg{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}"
    own += ".back{fill:var(--sheet)}.unseen{position:static}svg.paper{display:inline}"
    own += ".head{fill:var(--ink);font-size:15px;font-weight:600}"
    facts = {"title": title, "tree": tree, "hatches": colours["hatches"], "style": _of_pictures(style) + own}
    return fill_part("svg.html", facts)


def _of_pictures(style: str) -> str:
    """Return those rules of the page's style that are of a picture; of its colours those on light paper."""
    kept = (":root{", ".c", ".hatch", ".tree", ".part", ".axis", ".cut", ".middle", ".end", ".at", ".ends")
    lines = style.partition("@page")[0].splitlines()
    return "".join(
        line
        for line in lines
        if line.startswith(kept) and not line.startswith((".card", ".chart", ".copy", ".chip", ".confusion"))
    )


@cache
def _environment() -> Any:
    jinja2 = require("jinja2", "page", "the report")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(file_of),
        bytecode_cache=compiled_templates(jinja2),
        autoescape=lambda name: name is None or not name.endswith(".css"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["heads"] = RULE_HEADS
    environment.filters["short"] = shorten_name
    environment.filters["colour"] = class_of
    environment.filters["unbroken"] = lambda text: jinja2.utils.markupsafe.Markup(_hold_values(text))
    return environment


def _hold_values(text: str) -> str:
    """Return a text as HTML in which no line ends within a value, such as 2026-03-16; a long one may be parted."""
    words = (html.escape(word) for word in text.split(" "))
    return " ".join(f'<span class="v">{word}</span>' if _VALUE.fullmatch(word) else word for word in words)


_VALUE = re.compile(r"(?=.*[0-9])[\w.,:%+-]{2,24}")  # a number, a date or a time


def file_of(name: str) -> str:
    """Return a file of the folder `page`."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def pack(data: Any) -> str:
    """Return data as letters and digits, which the page's script unpacks."""
    packing = zlib.compressobj(wbits=-15)
    text = json.dumps(data, separators=(",", ":")).encode()
    return urlsafe_b64encode(packing.compress(text) + packing.flush()).decode()


def _hash(text: str) -> str:
    """Return the hash by which a content-security policy knows a script or a style."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
