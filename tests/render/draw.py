"""The pictures that tests compare with stored ones.

After a change of a picture, write the stored ones anew, and look at them::

    python -m tests.render.draw
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import boxwood as bw
from tests.models import read_model

FOLDER = Path(__file__).parent / "pictures"
DPI = 50
STYLE: dict[str, object] = {}


def table(n, k, seed=0):
    """Return rows of clusters in six columns, one of them skewed and one of small whole numbers, and labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, n)
    X = (rng.normal(size=(k, 6)) * 2.5)[labels] + rng.normal(size=(n, 6))
    X[:, 0] = np.round(2.0 ** (X[:, 0] + 8), 2)
    X[:, 1] = np.floor(np.abs(X[:, 1]) * 3)
    return X, labels


COLUMNS = ("spend", "orders_per_month", "a_really_long_column_name_that_never_ends", "$x$_price_", "fresh", "milk")
NAMES = np.array(["Loyal", "New", "Hotels and restaurants of the whole region", "日本語", "$Z_1$"])


def two():
    X, labels = table(300, 2)
    return bw.explain(X[:, 4:], labels, columns=COLUMNS[4:], method="cart", max_leaf_nodes=2)


def seven():
    X, labels = table(1500, 5)
    return bw.explain(X, NAMES[labels], columns=COLUMNS, method="cart", max_leaf_nodes=7)


def thirty():
    X, labels = table(3000, 12)
    return bw.explain(X, labels, columns=COLUMNS, method="cart", max_leaf_nodes=30)


def intervals():
    x = np.random.default_rng(0).normal(size=(400, 2))
    labels = np.where((x**2).sum(axis=1) < 1.2, "inside", "outside")
    return bw.explain(x, labels, columns=["left and right", "up and down"], method="kernel_expand", max_leaf_nodes=4)


def words():
    """Return an explanation with columns of categories and booleans."""
    import pandas as pd
    from sklearn.cluster import KMeans
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    rng = np.random.default_rng(0)
    n = 400
    kind = np.array(["horeca", "retail", "a bar or a café", "club"])[np.arange(n) % 4]
    vip = np.arange(n) % 3 == 0
    spend = rng.normal(size=n) + 8 * (kind == "club") + 5 * vip
    frame = pd.DataFrame({"kind": kind, "spend": spend, "vip": vip})
    encoded = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    centers = np.array([[0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 1, 0, 0, 8, 0], [1, 0, 0, 0, 5, 1]], dtype=float)
    kmeans = KMeans(4, init=centers, n_init=1, max_iter=1)
    return bw.explain(frame, make_pipeline(encoded, StandardScaler(), kmeans).fit(frame), method="cart")


def loaded():
    return read_model(seven().to_json())


def stable():
    ex = seven()
    ex.stability(n=5)
    return ex


def with_folds():
    ex = seven()
    ex.frontier(folds=3)
    return ex


PICTURES = {
    "tree_2": lambda: two().plot(),
    "tree_7": lambda: seven().plot(),
    "tree_30": lambda: thirty().plot(),
    "tree_intervals": lambda: intervals().plot(),
    "tree_words": lambda: words().plot(),
    "tree_loaded": lambda: loaded().plot(),
    "boxes": lambda: two().plot_boxes(),
    "boxes_7": lambda: seven().plot_boxes("spend", "fresh"),
    "boxes_intervals": lambda: intervals().plot_boxes(),
    "boxes_words": lambda: words().plot_boxes("kind", "spend"),
    "boxes_loaded": lambda: loaded().plot_boxes("fresh", "milk"),
    "profile": lambda: seven().plot_profile(),
    "profile_words": lambda: words().plot_profile(),
    "frontier": lambda: with_folds().plot_frontier(),
    "stability": lambda: stable().plot_stability(),
}


def drawn(name):
    """Return a picture as an array of shape (height, width, 3), from 0 to 255, in matplotlib's own style."""
    from matplotlib import pyplot
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    # without hints for a grid of pixels letters are much the same in each version of freetype
    style = {"font.family": "DejaVu Sans", "text.hinting": "none", **STYLE}
    with matplotlib.rc_context(matplotlib.rcParamsDefault), matplotlib.rc_context(style):
        figure = PICTURES[name]().figure
        figure.set_dpi(DPI)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())[..., :3].astype(float)
        pyplot.close(figure)
    return pixels


def write(folder=FOLDER):
    """Write all pictures."""
    from PIL import Image

    folder.mkdir(exist_ok=True)
    for name in PICTURES:
        Image.fromarray(drawn(name).astype(np.uint8)).quantize(128).save(folder / f"{name}.png", optimize=True)


if __name__ == "__main__":
    matplotlib.use("Agg")
    write()
