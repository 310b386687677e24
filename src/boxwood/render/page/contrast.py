"""Two clusters against each other as a section of the page, or as a page of its own for a notebook."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from boxwood.render.page._template import fill_template, frame_page, stripes
from boxwood.render.pictures.swatches import Swatch, swatches_of
from boxwood.words.contrast import MOST, how, line_said, name_said
from boxwood.words.values import size

if TYPE_CHECKING:
    from boxwood.explanation.measure.contrast import Contrast, Difference


def contrast_in_notebook(contrast: Contrast) -> str:
    """Return a contrast in a frame of its own for a notebook; what `print` shows, if that cannot be had."""
    try:
        bars = contrast_bars(contrast, swatches_of(contrast.names), contrast.differences[:MOST])
        page = fill_template("contrast.html", {"contrasts": [bars], "tree": None, **stripes(2)}, "Contrast", script="")
    except Exception:  # a representation is never an error
        return f"<pre>{html.escape(str(contrast))}</pre>"
    return frame_page("Contrast", page, 220 + 34 * len(bars["bars"]))


def contrast_bars(contrast: Contrast, sides: Sequence[Swatch], differences: Sequence[Difference]) -> dict[str, Any]:
    """Return the rules of two clusters, and a bar for each of some columns, as `plot_contrast` draws them.

    A bar goes from the middle at 50 to the right if the first cluster has more, else to the left, up to 0 or 100.
    """
    columns, ends = {one.column: one for one in contrast.profile}, []  # of each bar, and of its interval
    for one in differences:
        unit = one.effect / one.difference if one.difference else 0.0  # standard deviations in the column's own unit
        ends.append((one.effect, (one.low or 0.0) * unit, (one.high or 0.0) * unit))
    scale = 50 / (max((abs(end) for three in ends for end in three), default=0.0) or 1.0)
    bars = [
        {
            "name": name_said(one, columns[one.column]),
            "how": how(one, columns[one.column]),
            "cluster": sides[int(one.effect < 0)].cluster,
            "x": round(50 + min(effect, 0.0) * scale, 1),
            "width": round(abs(effect) * scale, 1),
            "line": None if one.low is None else [round(50 + end * scale, 1) for end in interval],
        }
        for one, (effect, *interval) in zip(differences, ends, strict=True)
    ]
    rules, rows = list(map(line_said, contrast.rules)), list(map(size, contrast.sizes))
    return {"sides": sides, "rows": rows, "rules": rules, "of_sample": contrast.is_of_sample, "bars": bars}
