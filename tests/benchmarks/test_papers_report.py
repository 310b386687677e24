"""The rules by which printed numbers are judged, the page that tells of them, and the errata."""

import importlib.util
from decimal import Decimal

import numpy as np
import pytest
from benchmarks.papers import __main__, errata, page, plots, sketches
from benchmarks.papers.report import (
    NO,
    SHOWN,
    YES,
    Line,
    Number,
    Options,
    Picture,
    Report,
    Section,
    Word,
    absent,
    degenerate,
    half_unit,
    is_reproduced,
    numbers,
    worst,
)

from boxwood.kernels import Gaussian, Laplace
from tests.scale import law

pytestmark = pytest.mark.full

# --------------------------------------------------------------------------------------------------------- rules


@pytest.mark.parametrize(
    ("printed", "half"), [("0.85", "0.005"), ("1.00179", "0.000005"), ("12", "0.5"), ("0.0646", "0.00005")]
)
def test_half_a_unit_of_the_last_printed_digit(printed, half):
    assert half_unit(printed) == Decimal(half)


@pytest.mark.parametrize(
    ("ours", "holds"),
    [
        ((0.84, 0.86), True),  # inside
        ((0.85,), True),
        ((0.855, 0.9), True),  # at the edge: half a unit above
        ((0.8, 0.845), True),  # at the edge: half a unit below
        ((0.8550001, 0.9), False),
        ((0.8, 0.8449999), False),
        ((0.9, 0.8), True),  # in any order
        ((0.5, 0.6), False),
    ],
)
def test_a_number_is_reproduced_inside_the_widened_spread(ours, holds):
    assert is_reproduced("0.85", ours) is holds
    assert Number("base", "0.85", ours).verdict == (YES if holds else NO)
    assert Number("base", "0.85", ours, judged=False).verdict == SHOWN


@law(10)
def test_the_rule_is_that_of_rounding(seed):
    rng = np.random.default_rng(seed)
    for digits in (0, 1, 2, 5):
        value = float(rng.uniform(0, 3))
        # what a paper would print of our own number is reproduced, with any digits; two units off are not
        assert is_reproduced(f"{value:.{digits}f}", (value,))
        assert not is_reproduced(f"{value + 2 * 10.0**-digits:.{digits}f}", (value,))


def test_a_number_shows_one_digit_more_than_printed():
    assert Number("base", "0.85", (0.8453, 0.8975)).found == "0.845 to 0.897"
    assert Number("base", "0.85", (0.85, 0.85)).found == "0.850"


def test_a_number_that_is_not_reproduced_needs_a_sentence():
    wrong = Number("MMDT", "0.50", (0.7,))
    with pytest.raises(ValueError, match="jain: a number that is not reproduced needs a sentence"):
        Line("jain", "raw", (wrong,))
    line = Line("jain", "raw", (wrong, Number("CART", "0.70", (0.7,)), Word("base kind", "SC", "SC")), "no seeds")
    assert line.verdict == "reproduced (CART, base kind); not reproduced (MMDT): no seeds"
    assert line.counts() == {YES: 2, NO: 1}
    assert Line("jain", "raw", (Number("CART", "0.70", (0.7,)),), "no seeds").verdict == "reproduced"
    assert Line("jain", "raw", (wrong,), "no seeds").verdict == "not reproduced: no seeds"
    missing = absent("jain", [("base", "0.60")])
    assert missing.counts() == {NO: 1}
    assert "jain.csv.gz is not in the folder" in missing.verdict


@pytest.mark.parametrize("kernel", [Gaussian, Laplace])
@law(5)
def test_degenerate_widths_are_told(kernel, seed):
    X = np.random.default_rng(seed).normal(size=(60, 2))
    words = [degenerate(kernel(gamma)(X, X)) for gamma in (1e-6, 0.5, 1e6)]
    assert words == ["constant or linear", "", "identity"]


def test_the_width_at_which_a_kernel_is_linear_does_not_count():
    # two far groups: at this width all values within a group are 1 and between them exp(-t) is nearly 1 - t
    X = np.repeat([[0.0], [1.0]], 10, axis=0) + np.linspace(0, 0.01, 20)[:, None]
    assert degenerate(Gaussian(0.01)(X, X)) == "constant or linear"
    assert np.exp(-0.05) - (1 - 0.05) < 0.0013  # as the comment beside the limit says
    assert degenerate(Gaussian(3.0)(X, X)) == ""


# ---------------------------------------------------------------------------------------------------------- page


SECTIONS = (
    Section("000", "Table 1", "prices", (Line("wine", "raw", (Number("MMDT", "1.04", (1.0,)),), "no seeds", "1.03"),)),
    Section(
        "004",
        "Figure 1",
        "a drawing",
        tables=(Report("Trees", ("data", "ours"), (("a|b", "1.0"),), ("a remark",)),),
        pictures=(Picture("one.png", drawn=True), Picture("two.png", drawn=False)),
    ),
)


def test_the_page_has_all_there_is():
    text = page.index([page.Done(one, 90.0, 30.0) for one in SECTIONS], words="A quick run.")
    for line in (
        "| all | 0 | 1 | 1 | 3.0 |",
        "| wine | MMDT | 1.04 | 1.000 | not reproduced: no seeds | raw | 1.03 |",
        "Verdict: shown.",
        "| a\\|b | 1.0 |",
        "- a remark",
        "![004, Figure 1](one.png)",
        "two.png: not drawn, as matplotlib is not installed.",
        "Time: 90.0 seconds.",
        f"3.0 minutes in all, 1.0 of processor time, on {page.machine()}.",
    ):
        assert line in text.splitlines()
    assert "cores of " in page.machine()
    assert text.count("\n## ") == 4  # two papers, errata, machine


def test_a_report_refuses_rows_of_another_length():
    with pytest.raises(ValueError, match="rows must have 2 cells"):
        Report("Table", ("data", "ours"), (("one",),))
    assert numbers([0.5, 1.0]) == "0.50 / 1.00"
    assert worst([1.0, 2.0], ["1.5", "1.0"]) == 1.0


def test_files_are_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "new" / "index.md"
    page.write(path, "old")
    monkeypatch.setattr(page.os, "replace", lambda *names: (_ for _ in ()).throw(OSError("disk")))
    with pytest.raises(OSError, match="disk"):
        page.write(path, "new")
    assert path.read_text() == "old"


def test_a_stopped_run_keeps_what_is_done(tmp_path, monkeypatch):
    def sections(options):
        yield SECTIONS[0]
        raise KeyboardInterrupt

    monkeypatch.setattr("benchmarks.papers.paper_003.sections", sections)
    with pytest.raises(KeyboardInterrupt):
        __main__.main(["--only", "003", "--out", str(tmp_path)])
    text = (tmp_path / "index.md").read_text()
    assert "which was stopped before its end or still goes on" in text
    assert "### 000, Table 1" in text


def test_errata_are_told_once_each():
    assert len(errata.ERRATA) == len(set(errata.ERRATA)) == 33
    assert {one.paper for one in errata.ERRATA} <= set(errata.TITLES)
    assert all(all(one) for one in errata.ERRATA)
    text = page.index([], words="None.")
    assert all(one.right.replace("|", "\\|") in text for one in errata.ERRATA)


# ------------------------------------------------------------------------------------------------------- sketches


@pytest.mark.slow
@pytest.mark.parametrize("name", sketches.__all__)
def test_drawings_are_shown(name, tmp_path):
    section = getattr(sketches, name)(Options(quick=True, out=str(tmp_path)))
    assert section.counts() == {SHOWN: 1}
    assert section.pictures or section.tables
    for picture in section.pictures:
        assert picture.drawn is (tmp_path / picture.name).exists()
    assert not list(tmp_path.glob("*.part"))


def test_the_embedding_is_that_of_the_drawing(tmp_path):
    # Makarychev, Shan, Figure 3: half the squared gaps of 2 add up to 2 and 4
    (remark,) = sketches.embedding(Options(quick=True, out=str(tmp_path))).remarks
    assert "have the images 0, 2, 4" in remark


def test_without_matplotlib_nothing_is_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    X = np.array([[0.0, 0.0], [1.0, 1.0]])
    pictures = (
        plots.figure_3(str(tmp_path), np.arange(5.0), -np.arange(5.0), np.ones((2, 3))),
        plots.figure_6(str(tmp_path), {2: np.ones((4, 2))}),
        plots.theorem_5(str(tmp_path), {2: np.ones(3)}),
        plots.prices(str(tmp_path), "prices.png", (2, 4), {"any tree": [1.0, 2.0]}),
        plots.splits(str(tmp_path), "splits.png", X, np.array([0, 1]), []),
        plots.bars(str(tmp_path), "bars.png", {"price": {"iris": {"IMM": 1.0}}}),
        plots.boxes(str(tmp_path), "boxes.png", {"IMM": np.ones(3)}, "Rand index"),
        plots.curves(str(tmp_path), "curves.png", np.arange(3.0), {"one": np.ones(3)}, "value"),
        plots.regions(str(tmp_path), "regions.png", X, [plots.Panel("none", np.array([0, 1]), None)]),
    )
    assert {picture.drawn for picture in pictures} == {False}
    assert not list(tmp_path.iterdir())
