"""`svg`: the tree as a picture of its own, in the look of the page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from boxwood._files import replacing
from boxwood.errors import DataError
from boxwood.explanation.measured_tree import explanation_of
from boxwood.render.forms.text import title_lines_of
from boxwood.render.page._guard import as_shown
from boxwood.render.page._parts import LARGEST, tree_shapes, ways_in_full
from boxwood.render.page._template import picture_alone, stripes
from boxwood.render.page._titles import check_titles
from boxwood.render.pictures.picture import picture_of
from boxwood.words.values import use_titles

_TITLE = 15.0  # size of its letters


def svg(
    model: Any, path: str | os.PathLike[str] | None = None, *, titles: Mapping[str, str] | None = None
) -> str | None:
    """Return the picture, or write it to a file; see `Explanation.to_svg`."""
    whole = explanation_of(model)
    if not 1 < whole.n_leaves <= LARGEST:
        raise DataError(f"a picture is of 2 to {LARGEST} leaves, got {whole.n_leaves:,}; print the explanation")
    with use_titles(check_titles(titles, whole)):
        guarded = as_shown(whole, None, has_profile=False)
        ex, picture = guarded._for_people(), picture_of(guarded)
        title = title_lines_of(ex, picture.width - 16.0, _TITLE)
        text = picture_alone(title, tree_shapes(picture, ways_in_full(ex, picture)), stripes(ex.n_clusters))
    if path is None:
        return text
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    return None
