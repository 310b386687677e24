"""What became of segments as a page for a browser, which needs nothing else and loads nothing."""

from __future__ import annotations

import os

from boxwood._files import replacing
from boxwood.render.page._template import stripes, written
from boxwood.words.living import Said


def page_of(said: Said, title: str, path: str | os.PathLike[str] | None) -> str | None:
    """Return a report as a page, or write it to a file, which is replaced as a whole."""
    page = written("living.html", {"said": said, "tree": None} | stripes(0), title, script="")
    if path is None:
        return page
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.write(page)
    return None
