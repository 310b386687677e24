"""What became of segments as a page for a browser, which needs nothing else and loads nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from boxwood._files import replacing
from boxwood.render.page._template import fill_template, stripes
from boxwood.render.pictures.flow import BAR, Flow, FlowBand, flow_of
from boxwood.words.living import Said

if TYPE_CHECKING:
    from boxwood.explanation.living.results import MatchFacts


_WIDTH, _HEIGHT = 640.0, 320.0  # of the picture; it is higher if bars stand far apart


def page_of(said: Said, title: str, path: str | os.PathLike[str] | None, match: MatchFacts | None = None) -> str | None:
    """Return a report as a page, or write it to a file, which is replaced as a whole; IN: match: to be drawn."""
    flow = None if match is None else _shapes(flow_of(match))
    n_clusters = 0 if match is None else len(match.before)
    page = fill_template(
        "living.html", {"said": said, "tree": None, "flow": flow} | stripes(n_clusters), title, script=""
    )
    if path is None:
        return page
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.write(page)
    return None


def _shapes(flow: Flow) -> dict[str, Any]:
    """Return the shapes of the picture, in pixels."""
    bars = []
    for bar in flow.bars:
        x, at, anchor = (0.0, BAR + 0.012, "start") if bar.is_left else (1 - BAR, 1 - BAR - 0.012, "end")
        place = {"x": x * _WIDTH, "at": at * _WIDTH, "width": BAR * _WIDTH}
        place |= {
            "y": bar.top * _HEIGHT,
            "height": bar.height * _HEIGHT,
            "middle": (bar.top + bar.height / 2) * _HEIGHT,
        }
        rounded = {name: round(value, 1) for name, value in place.items()}
        bars.append(rounded | {"anchor": anchor, "name": bar.name, "share": bar.share})
    bands = [(_path(band), band.cluster) for band in flow.bands]
    return {"width": round(_WIDTH), "height": round(flow.height * _HEIGHT), "bars": bars, "bands": bands}


def _path(band: FlowBand) -> str:
    left, half, right = (round(x * _WIDTH, 1) for x in (BAR, 0.5, 1 - BAR))
    ends = band.start, band.end, band.end + band.width, band.start + band.width
    a, b, c, d = (round(y * _HEIGHT, 1) for y in ends)
    return f"M{left} {a}C{half} {a} {half} {b} {right} {b}V{c}C{half} {c} {half} {d} {left} {d}Z"
