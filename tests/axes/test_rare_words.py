"""Rare words: how many rows a word needs, which words count as one, and what that is worth on rows to come."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from boxwood._validation import Rows
from boxwood.axes import Categories
from boxwood.axes.every_set import EverySetMap
from boxwood.axes.mixed import ENOUGH, RELIABLE, MixedMap, least_rows, words_alike
from tests.scale import law, seeds


def _least_rows(words: list[int], labels: list[int]) -> float:
    """Return the same by every pair of rows: how often another row of its word is in a row's cluster, and any row."""
    rows = range(len(words))
    own = {i: [j for j in rows if j != i and words[j] == words[i]] for i in rows}
    shares = [np.mean([labels[j] == labels[i] for j in own[i]]) for i in rows if own[i]]
    chance = np.mean([labels[i] == labels[j] for i, j in permutations(rows, 2)])
    if not shares or chance == 1:
        return math.inf
    r = (np.mean(shares) - chance) / (1 - chance)
    return math.inf if r <= 1e-12 else RELIABLE / (1 - RELIABLE) * (1 - r) / r


@law(40)
def test_a_word_needs_as_many_rows_as_pairs_of_rows_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m, k = int(rng.integers(2, 30)), int(rng.integers(1, 10)), int(rng.integers(1, 4))
    words = rng.integers(0, m, n)
    labels = np.where(rng.random(n) < rng.random(), words % k, rng.integers(0, k, n))
    cells = np.zeros((m, k))
    np.add.at(cells, (words, labels), 1.0)
    found, expected = least_rows(cells), _least_rows(words.tolist(), labels.tolist())
    assert found == pytest.approx(expected, rel=1e-9) or min(found, expected) > 1e9  # r is 0 but for rounding
    assert least_rows(cells * (labels.max() == 0)) == math.inf


def _table(m: int, n: int, share: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return codes of words and labels, of which a share is what the word says."""
    codes = np.concatenate([np.arange(m), rng.integers(0, m, n - m)])
    return codes, np.where(rng.random(n) < share, codes % 2, rng.integers(0, 2, n))


def _alike(codes: np.ndarray, labels: np.ndarray, known: Categories, weights: np.ndarray | None = None) -> set[int]:
    """Return the words that count as one."""
    at = words_alike(codes[:, None].astype(float), {0: known}, labels, weights).get(0, np.arange(len(known.domain)))
    return {code for code in range(len(at)) if (at == at[code]).sum() > 1}


def test_names_without_meaning_count_as_one_and_names_that_carry_the_answer_do_not() -> None:
    rng = np.random.default_rng(0)
    known = Categories(tuple(f"n{i}" for i in range(40)), False)
    assert _alike(*_table(40, 600, 0.0, rng), known) == set(range(40))
    assert _alike(*_table(40, 100, 1.0, rng), known) == set()  # two or three rows of each
    codes, labels = _table(40, 600, 0.0, rng)
    codes[:ENOUGH] = 7
    assert 7 not in _alike(codes, labels, known)
    assert _alike(codes, labels, known._replace(ordered=True)) == set()
    with_gaps = Categories((*known.values[:-1], None), False)
    assert _alike(*_table(40, 600, 0.0, rng), with_gaps) == set(range(39))
    few = Categories(tuple("abc"), False)
    assert _alike(*_table(3, 60, 0.0, rng), few) == set()
    assert _alike(np.arange(120) % 3, np.arange(120) % 2, few) == {0, 1, 2}


@law(20)
def test_a_whole_weight_is_a_row_that_comes_several_times(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes, labels = _table(12, 90, rng.random(), rng)
    labels[rng.random(90) < 0.1] = -1
    times, known = rng.integers(0, 4, 90), Categories(tuple("abcdefghijkl"), False)
    several = np.repeat(codes, times), np.repeat(labels, times)
    assert _alike(codes, labels, known, times.astype(float)) == _alike(*several, known)
    assert _alike(codes, labels, known, rng.random(90) + 0.1) == _alike(codes, labels, known)


@law(20)
def test_no_cut_of_growth_parts_words_that_count_as_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes, labels = _table(9, 60, 0.5, rng)
    table, known = codes[:, None].astype(float), {0: Categories(tuple("abcdefghi"), False)}
    at = np.where(rng.random(9) < 0.5, 2, np.arange(9))
    at[2] = 2
    maps = [MixedMap(table, known, labels, alike={0: at}, one_hot=one_hot) for one_hot in (False, True)]
    for axis_map in (*maps, EverySetMap(table, known, np.ones(60, dtype=bool), alike={0: at})):
        images = axis_map.transform(Rows(np.arange(9.0)[:, None]))
        assert (images == images[at]).all()
        assert len(np.unique(images, axis=0)) <= len(np.unique(at))
    assert len(np.unique(images, axis=0)) == len(np.unique(at))  # where each set is a cut


def _agreement(frame: object, labels: np.ndarray, seen: np.ndarray, **asked: object) -> tuple[float, float]:
    """Return the agreement on rows that were seen, and on the others."""
    ex = bw.explain(frame[seen], labels[seen], objective="agreement", **asked)
    is_right = ex.predict(frame, missing="none") == labels
    return is_right[seen].mean(), is_right[~seen].mean()


def test_rules_of_names_hold_on_rows_that_were_not_seen() -> None:
    gaps = []
    for seed in seeds(3):
        rng = np.random.default_rng(seed)
        n, m = 900, 72
        codes, labels = _table(m, n, 0.0, rng)
        frame = pd.DataFrame({"name": [f"n{code}" for code in codes], "x": rng.normal(size=n)})
        seen = np.arange(n) < 600
        before, after = _agreement(frame, labels, seen)
        gaps.append(before - after)
        assert _agreement(frame, codes % 2, seen) == (1, 1)
    assert np.mean(gaps) < 0.08  # 0.14 if each name is taken by itself


def test_of_equal_cuts_the_column_of_fewer_words_is_taken() -> None:
    codes = np.arange(960) % 48
    frame = pd.DataFrame({"state": [f"S{code}" for code in codes], "region": np.array(list("NESW"))[codes % 4]})
    ex = bw.explain(frame, codes % 4 == 3, max_leaf_nodes=2)
    assert [ex.columns[j] for j in ex.tree.features] == ["region"]
    assert ex.agreement == 1
