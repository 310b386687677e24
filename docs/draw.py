"""The pictures of the README and of the first pages, drawn from `examples/customers.csv` and scikit-learn's wine data.

After a change of a picture, redraw them, and look at them::

    python docs/draw.py

The report is a photograph that Chromium takes; where there is none, the stored one stays.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from PIL import Image
from sklearn.datasets import load_wine

import boxwood as bw

FOLDER = Path(__file__).parent / "pictures"
DPI = 100
DARK = {"figure.facecolor": "#14181e", "text.color": "#ced6dd"}  # the page of the dark theme, and its ink
COLOURS = 64  # of a picture; more make larger files, and nobody sees the difference
REPORT = (1100, 1500)  # width and height of the page's upper part, in pixels
SMALLER = 0.75  # of these pixels


@cache
def customers() -> bw.Explanation:
    """Return the explanation that the README and the site begin with."""
    return bw.explain(pd.read_csv(FOLDER.parents[1] / "examples" / "customers.csv"), "segment")


@cache
def wine() -> bw.Explanation:
    """Return the explanation that the pages of the start show."""
    rows = load_wine(as_frame=True).data.rename(columns=lambda name: name.split("/")[0])
    return bw.explain(rows, n_clusters=3, random_state=0)


def frontier():
    """Draw the frontier with what was lost on held-out rows."""
    wine().frontier(folds=5)
    return wine().plot_frontier()


def stability():
    """Draw how far clusters and cuts return in the resamples that the pages show."""
    wine().stability(n=20)
    return wine().plot_stability()


PICTURES = {
    "customers": lambda: customers().plot(),
    "customers-dark": lambda: customers().plot(),
    "boxes": lambda: wine().plot_boxes(),
    "profile": lambda: wine().plot_profile(),
    "frontier": frontier,
    "stability": stability,
}


def draw(name: str, path: Path) -> None:
    """Write one picture."""
    from matplotlib import pyplot
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    colours = DARK if name.endswith("-dark") else {}
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, "font.family": "DejaVu Sans", **colours}):
        figure = PICTURES[name]().figure
        figure.set_dpi(DPI)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())[..., :3]
        pyplot.close(figure)
    _write(Image.fromarray(np.ascontiguousarray(pixels)), path)


def photograph(path: Path) -> bool:
    """Write the upper part of the report as a browser shows it; return whether there is a browser."""
    browser = shutil.which("chromium")
    if browser is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        page, photo = Path(folder) / "report.html", Path(folder) / "report.png"
        customers().to_html(page, title="400 customers")
        window = f"--window-size={REPORT[0]},{REPORT[1]}"
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", window, f"--screenshot={photo}"]
        subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True, cwd=folder)
        with Image.open(photo) as image:
            size = tuple(int(SMALLER * side) for side in REPORT)
            _write(image.convert("RGB").resize(size, Image.Resampling.LANCZOS), path)
    return True


def _write(image: Image.Image, path: Path) -> None:
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def main(folder: Path = FOLDER) -> None:
    """Write all pictures."""
    for name in PICTURES:
        draw(name, folder / f"{name}.png")
    if not photograph(folder / "report.png"):
        print("no chromium: the picture of the report stays as it was", file=sys.stderr)


if __name__ == "__main__":
    matplotlib.use("Agg")
    main()
