"""Words that have an order by themselves: scales of answers, months and quarters, in whatever form they are written."""

import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from boxwood.axes.known_order import known_order
from tests.scale import law

SCALES = (
    ("Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"),
    ("Completely disagree", "Somewhat disagree", "Neutral", "Somewhat agree", "Completely agree"),
    ("Very dissatisfied", "Dissatisfied", "Neutral", "Satisfied", "Very satisfied"),
    ("Very unlikely", "Unlikely", "Likely", "Very likely"),
    ("Never", "Rarely", "Sometimes", "Often", "Always"),
    ("Very poor", "Poor", "Fair", "Good", "Very good", "Excellent"),
    ("Very low", "Low", "Medium", "High", "Very high"),
    ("Not at all", "Slightly", "Moderately", "Very", "Extremely"),
    ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
    ("January", "February", "March", "April", "May", "June", "July", "August"),
    ("Q1", "Q2", "Q3", "Q4"),
)


def drawn_words(rng, seed):
    """Return some words of a scale in its order, in capitals or small letters."""
    scale = SCALES[seed % len(SCALES)]
    kept = np.sort(rng.choice(len(scale), rng.integers(3, len(scale) + 1), replace=False))
    return [str(rng.choice([scale[i], scale[i].upper(), scale[i].lower()])) for i in kept.tolist()]


@law(80)
def test_words_of_a_scale_have_its_order(seed):
    rng = np.random.default_rng(seed)
    words = drawn_words(rng, seed)
    assert known_order([words[i] for i in rng.permutation(len(words))]) == words


@law(8)
def test_they_are_cut_in_this_order(seed):
    rng = np.random.default_rng(seed)
    words = drawn_words(rng, seed)
    place, first = rng.integers(0, len(words), 90), int(rng.integers(1, len(words)))
    place[: len(words)] = np.arange(len(words))
    answers = pd.DataFrame({"answer": np.array(words)[place], "x": rng.normal(size=90)})
    ex = bw.explain(answers, np.where(place < first, "less", "more"), max_leaf_nodes=2)
    assert ex.agreement == 1
    assert ex._coded_columns[0].ordered
    assert list(ex._coded_columns[0].values) == words


@pytest.mark.parametrize(
    "words", [("low", "high"), ("agree", "neutral", "red"), ("fair", "average", "good"), (1, 2, 3)]
)
def test_other_words_have_no_order_by_themselves(words):
    assert known_order(words) is None


FORMS = {  # how a month or a quarter is written, and one that comes later
    "%Y-%m": "2027-02",
    "%Y/%m": "2027/02",
    "%m/%Y": "02/2027",
    "%b %Y": "Feb 2027",
    "%B %Y": "February 2027",
    "%b-%y": "Feb-27",
    "%YQ%q": "2027Q1",
    "Q%q %Y": "Q1 2027",
    "Q%q/%y": "Q1/27",
    "M": pd.Period("2027-02"),
    "Q": pd.Period("2027Q1"),
}


def written(month, form):
    period = pd.Period(year=2024 + month // 12, month=month % 12 + 1, freq="M")
    return period.asfreq(form) if len(form) == 1 else period.strftime(form.replace("%q", str(period.quarter)))


@law(11)
def test_a_later_month_or_quarter_has_a_side_whatever_its_form(seed, tmp_path):
    rng = np.random.default_rng(seed)
    form = [*FORMS][seed % len(FORMS)]
    by = 3 if "q" in form.lower() else 1
    months = rng.integers(0, 36, 150) // by * by
    parted = int(rng.integers(3, 30)) // by * by
    table = pd.DataFrame({"when": [written(month, form) for month in months.tolist()], "x": rng.normal(size=150)})
    labels = np.where(months < parted, "early", "late")
    later = pd.DataFrame({"when": [FORMS[form]], "x": [0.0]})
    table.to_csv(tmp_path / "t.csv", index=False)
    for door in (table, pd.read_csv(tmp_path / "t.csv")):
        ex = bw.explain(door, labels, max_leaf_nodes=2)
        assert ex.agreement == 1
        assert ex.predict(later).tolist() == ["late"]
        assert ex.rules().count(" ") < 16  # and no list of months
