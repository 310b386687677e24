"""What is proved is tried to be refuted: a sentence is made of its claim, and all that the claim speaks of is tried."""

import itertools
import re
from contextlib import suppress
from functools import cache

import numpy as np
import pandas as pd

import boxwood as bw
from boxwood.errors import DataError
from boxwood.explanation import Claim
from boxwood.words.claims import exceptions, no_better_lines, none_better
from boxwood.words.lines import names_of
from tests.scale import law

EPS = 1e-6


class Call:
    """A call on a small table by drawn options, and all cuts and rules of the table as sets of rows in bits."""

    def __init__(self, seed, always=()):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(7, 11)), int(rng.integers(2, 4))
        self.labels = rng.permutation(np.concatenate([np.arange(k), rng.integers(0, k, n - k)]))
        near = self.labels + rng.integers(0, 3, n)
        columns = {
            "a": lambda: near * 1.0,
            "b": lambda: rng.integers(0, 4, n) * float(rng.choice([1, 1.37])),
            "gap": lambda: np.where(rng.random(n) < 0.25, np.nan, rng.integers(0, 4, n)),
            "word": lambda: rng.choice(list("uvw"), n),
        }
        names = rng.permutation([*columns])[: int(rng.integers(2, 4))]
        self.frame = pd.DataFrame({name: columns[name]() for name in names})
        chance = {
            "forbidden": (0.3, lambda: [names[0]]),
            "preferred": (0.3, lambda: [names[-1]]),
            "min_samples_leaf": (0.3, lambda: int(rng.integers(2, 4))),
            "max_depth": (0.3, lambda: int(rng.integers(1, 3))),
            "max_leaf_nodes": (0.5, lambda: int(rng.integers(2, 5))),
            "round_thresholds": (0.2, lambda: 1),
            "sample_weight": (0.4, lambda: rng.integers(1, 5, n) * 1.0),
        }
        self.options = {name: value() for name, (p, value) in chance.items() if rng.random() < p or name in always}
        self.options["objective"] = str(rng.choice(["agreement", "cost", "auto"]))
        self.of_lines = {
            name: value for name, value in (("min_precision", 0.7), ("min_found", 0.6)) if rng.random() < 0.3
        } | {"max_conditions": int(rng.integers(1, 4))}
        self.ex = bw.explain(self.frame, self.labels, **self.options)
        self.weights = np.asarray(self.options.get("sample_weight", np.ones(n)), dtype=float)

    def allowed(self, claim):
        limited = self.options["forbidden"] if "forbidden" in claim.limits else []
        return [name for name in self.ex.columns if name not in limited]

    def least_rows(self, claim):
        return self.options["min_samples_leaf"] if "min_samples_leaf" in claim.limits else 1

    def parts(self, name, *, intervals):
        """Return the sets of rows that a cut, or a condition of a line, takes of a column."""
        x = self.frame[name]
        if name == "word":
            values = sorted(x.unique())
            chosen = itertools.chain.from_iterable(itertools.combinations(values, m) for m in range(1, len(values) + 1))
            return [x.isin(one).to_numpy() for one in chosen]
        ends, lacks = np.unique(x.dropna()), x.isna().to_numpy()
        pairs = itertools.combinations_with_replacement(ends, 2) if intervals else ((ends[0], end) for end in ends)
        known = [((x >= low) & (x <= high)).to_numpy() for low, high in pairs]
        return [*known, *([lacks, *(one | lacks for one in known)] if lacks.any() else [])]

    def most_right(self, claim):
        """Return the most weight that a tree of the claim's space gets right, by all cuts of all columns."""
        depth = self.options["max_depth"] if "max_depth" in claim.limits else claim.size
        return self._best(claim, depth, self.weight_right, max)

    def least_cost(self, claim):
        return self._best(claim, claim.size, self.spread, min)

    def _best(self, claim, depth, value_of, better):
        cuts = [cut for name in self.allowed(claim) for cut in self.parts(name, intervals=False)]
        least, n = self.least_rows(claim), len(self.labels)
        masks = {as_bits(cut) for cut in cuts}

        @cache
        def best(rows, leaves, depth):
            found = value_of(as_rows(rows, n))
            for inside, outside in ((rows & cut, rows & ~cut) for cut in masks) if leaves > 1 and depth else ():
                if min(inside.bit_count(), outside.bit_count()) >= max(least, 1):
                    for m in range(1, leaves):
                        found = better(found, best(inside, m, depth - 1) + best(outside, leaves - m, depth - 1))
            return found

        return best((1 << n) - 1, claim.size, depth)

    def weight_right(self, rows):
        return np.bincount(self.labels[rows], self.weights[rows]).max()

    def spread(self, rows):
        values, mass = self.frame[[*self.ex.columns]].to_numpy(dtype=float)[rows], self.weights[rows]
        return (mass[:, None] * np.square(values - np.average(values, axis=0, weights=mass))).sum()

    def rules(self, claim):
        """Return the sets of rows of all rules of the claim's space, shape (n_rules, n)."""
        found, n = [np.ones((1, len(self.labels)), dtype=bool)], len(self.labels)
        for m in range(1, claim.size + 1):
            for names in itertools.combinations(self.allowed(claim), m):
                masks = np.ones((1, n), dtype=bool)
                for name in names:
                    own = np.array(self.parts(name, intervals=True))
                    masks = np.unique((masks[:, None] & own[None]).reshape(-1, n), axis=0)
                found.append(masks)
        masks = np.concatenate(found)
        return masks[masks.sum(axis=1) >= self.least_rows(claim)]

    def best_line(self, claim, cluster):
        own = self.labels == cluster
        masks, size = self.rules(claim), self.weights[own].sum()
        right, matched = masks @ (self.weights * own), masks @ self.weights
        found, precision = right / size, right / np.maximum(matched, 1e-300)
        if claim.measure == "f1":
            return (2 * right / (size + matched)).max()
        value, other = (found, precision) if claim.measure == "found" else (precision, found)
        return value[other >= claim.least - EPS].max(initial=0.0)


def as_bits(rows):
    return sum(1 << i for i in np.flatnonzero(rows).tolist())


def as_rows(bits, n):
    return [i for i in range(n) if bits >> i & 1]


def some_call(seed, always=()):
    """Return a call that is not refused; IN: always: options that it has."""
    for number in range(seed * 100, seed * 100 + 20):
        with suppress(DataError, ValueError):
            return Call(number, always)
    raise AssertionError("all calls are refused")


def space_of(sentence):
    """Return what a sentence says it is about: kind, size and whether there are limits."""
    found = re.search(r"(tree|rules) of (?:up to )?(\d+|one) (?:lea\w+|conditions?)( within the limits)?", sentence)
    return found[1].removesuffix("s"), int(found[2].replace("one", "1")), bool(found[3])


@law(12)
def test_no_tree_refutes_a_claim(seed):
    call = some_call(seed)
    ex, total = call.ex, call.weights.sum()
    for claim in ex.claims:
        assert space_of(none_better(claim)) == ("tree", ex.n_leaves, bool(claim.limits))
        assert claim.value == getattr(ex, claim.measure)
        if claim.measure == "agreement":
            assert call.most_right(claim) / total <= claim.value + claim.by + EPS, claim
        elif not {"word", "gap"} & {*ex.columns}:
            assert call.least_cost(claim) >= claim.value * (1 - claim.by) - EPS, claim
    text, known = ex.to_text(), {claim.measure: claim for claim in ex.claims}
    said = re.findall(r"; (no tree of [^.;]+(?:\.\d[^.;]*)?)\.(?:\n|$)", text)
    assert all(one in map(none_better, ex.claims) for one in said)
    assert ("no tree of" in text) == bool(said)
    aside = ex.exceptions()
    assert aside.claim == known.get("agreement")
    if aside.rows and aside.claim:
        assert aside.verdict.endswith(exceptions(aside.claim))
        assert ("weight" in exceptions(aside.claim)) or not ex.details.weighted
    assert ex.frontier().claim == known.get("agreement")
    if "No tree" in str(ex.frontier()):
        assert none_better(known["agreement"])[1:] in str(ex.frontier())


@law(12, first=1000)
def test_no_rule_refutes_a_claim_on_lines(seed):
    call = some_call(seed, ["forbidden" if seed % 3 else "min_samples_leaf"])  # what leaves lines out
    later = call.ex.evaluate(call.frame, call.labels, sample_weight=call.options.get("sample_weight"))
    for ex in (call.ex, later):  # which has the same limits
        lines = ex.standalone_rules(**call.of_lines)
        for cluster, claim in enumerate(lines.claims):
            assert (claim is None) == (lines[cluster] is None)
            if claim is not None:
                assert claim.value == getattr(lines[cluster], claim.measure)
                assert call.best_line(claim, cluster) <= claim.value + claim.by + EPS, (cluster, claim)
        known = {name: claim for name, claim in zip(names_of(lines), lines.claims, strict=True) if claim}
        assert all(said in str(lines) for said in no_better_lines(known))
        assert ("rules of" in str(lines)) == bool(known)


ADVICE = re.compile(r"leaves (?:the rules could reach|that was tried reaches) ([\d.]+)%(?: \((max_leaf_nodes.*)\))?$")


def board_or_rings(seed):
    """Return a table whose clusters need more leaves than there are clusters, and options of `explain`."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(40, 120)), int(rng.integers(2, 5))
    X = rng.uniform(-1, 1, (n, 2)).round(int(rng.integers(1, 6)))
    of = (
        lambda: (X[:, 0] > 0) ^ (X[:, 1] > 0),
        lambda: (np.floor(X[:, 0] * k / 2) + np.floor(X[:, 1] * k / 2)) % 2,
        lambda: np.floor((X[:, 0] + 1) * k) % k,
        lambda: np.digitize(np.hypot(*X.T), [0.4, 0.8]),
        lambda: rng.integers(0, k, n),
    )
    labels, frame = of[seed % len(of)]().astype(int), pd.DataFrame(X, columns=["a", "b"])
    if rng.random() < 0.3:
        frame["word"] = rng.choice(list("uvw"), n)
    if rng.random() < 0.3:
        frame.loc[rng.random(n) < 0.1, "a"] = np.nan
    chance = {
        "objective": (0.7, lambda: str(rng.choice(["cost", "agreement"]))),
        "max_leaf_nodes": (0.4, lambda: int(rng.integers(2, 5))),
        "max_depth": (0.15, lambda: int(rng.integers(2, 5))),
        "min_samples_leaf": (0.15, lambda: int(rng.integers(2, 8))),
        "preferred": (0.15, lambda: ["b"]),
        "max_columns": (0.15, lambda: 1),
        "round_thresholds": (0.1, lambda: 1),
        "standardize": (0.15, lambda: True),
        "time_limit": (0.05, lambda: 1e-9),
    }
    return frame, labels, {name: value() for name, (p, value) in chance.items() if rng.random() < p}


@law(20, first=3000)
def test_advice_is_reached_where_just_that_is_done(seed):
    """The note names the leaves, and all parameters that are to be set; nothing else of the call is changed."""
    frame, labels, options = board_or_rings(seed)
    ex = bw.explain(frame, labels, **options)
    for note in ex.notes:
        if found := ADVICE.search(note):
            told, advice = found.groups()
            assert bool(advice) == (not {"round_thresholds", "time_limit"} & options.keys())
            if advice:
                named = {"objective": "agreement"} if 'objective="agreement"' in advice else {}
                leaves = int(re.search(r"([\d,]+) leaves", note)[1].replace(",", ""))
                again = bw.explain(frame, labels, **{**options, **named, "max_leaf_nodes": leaves})
                assert 100 * again.agreement >= float(told) - EPS, (note, options)


def claim(**facts):
    made = Claim("rules", 2, (), "f1", 0.0, False, 0.9, 0.0)
    return made._replace(**facts)


def test_words_say_all_that_a_claim_holds():
    tree = claim(of="trees", measure="agreement", by=0.0012)
    assert none_better(tree) == "no tree of 2 leaves agrees on more than 0.2% more of the rows"
    assert none_better(tree._replace(weighted=True, size=1)).endswith(
        "tree of 1 leaf agrees on more than 0.2% more of the weight"
    )
    assert (
        none_better(tree._replace(by=0.0, limits=("max_depth",))) == "no tree of 2 leaves within the limits agrees more"
    )
    assert none_better(tree._replace(measure="cost", by=0.0)) == "no tree of 2 leaves costs less"
    assert exceptions(tree) == "A tree of 2 leaves has to set aside at least 9.8% of the rows."
    assert exceptions(tree._replace(by=0.0, weighted=True)) == "No tree of 2 leaves has to set aside less weight."
    far = claim(by=0.0501, value=0.8)
    assert no_better_lines({}) == []
    assert no_better_lines({"a": claim()}) == ["No rules of up to 2 conditions have a higher F1."]
    assert no_better_lines({"a": claim(by=0.0031), "b": far}) == [
        "No rules of up to 2 conditions have an F1 higher by more than 0.004, but perhaps for b (0.800, at most 0.851)."
    ]
    assert no_better_lines({"b": far}) == [
        "Perhaps rules of up to 2 conditions have a higher F1, for b (0.800, at most 0.851)."
    ]
    found = claim(measure="found", least=0.87654, size=1, limits=("forbidden",))
    assert no_better_lines({"a": found}) == [
        "No rules of one condition within the limits have a precision of 87.654% and find more."
    ]
    precise = claim(measure="precision", least=0.5, by=0.01)
    assert no_better_lines({"a": precise}) == [
        "No rules of up to 2 conditions have a precision higher by more than 0.01 and find 50%."
    ]
