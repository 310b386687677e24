"""The comparison of quality: its parts help without running, refuse unknown tables, and judge as they say."""

import gzip
from contextlib import ExitStack

import numpy as np
import pytest
from benchmarks.quality.__main__ import PARTS, main
from benchmarks.quality.compare import run
from benchmarks.quality.gaps import why_dearer
from benchmarks.quality.outside import shares
from benchmarks.quality.peers import PEERS
from benchmarks.quality.worth import Outcomes, changes, in_order
from benchmarks.tables import Table, tables
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from boxwood import explain
from boxwood.explanation.choose.goal import Candidate

pytestmark = pytest.mark.full


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    monkeypatch.delenv("BOXWOOD_DATA", raising=False)


def test_help_lists_the_parts(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    printed = capsys.readouterr().out
    assert all(f"\n    {part}" in printed for part in PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_each_part_helps_and_runs_nothing(part, capsys):
    with pytest.raises(SystemExit, match="0"):
        main([part, "--help"])
    assert f"benchmarks.quality {part}" in capsys.readouterr().out


@pytest.mark.parametrize("part", sorted({*PARTS} - {"defaults", "names"}))  # which have tables of their own
def test_a_table_that_is_not_there_is_told(part):
    with pytest.raises(SystemExit, match=r"^no \w+ nowhere; there are: .*(digits|iris)"):
        main([part, "--tables", "nowhere"])


def test_no_table_is_left():
    with pytest.raises(SystemExit, match="at most 3 values"):
        main(["worth", "--most-values", "3"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param([], ["beaten in 0 of 1 cases"], marks=pytest.mark.slow),
        (["gaps", "--clusters", "2", "3"], ["k=3", "Gaps by number of clusters"]),
        (["gaps", "--clusters", "3", "--time-limit", "1e-9"], ["nan%", "by clock"]),
        (["given"], ["false rules", "below grow.cart in 0 of 2: -"]),
        (["luck"], ["made out by the factor"]),
        (["outside"], ["unseen", "mean"]),
        (["worth", "--times", "1", "--cases", "1"], ["The curve", "and refinement"]),
    ],
)
def test_each_part_runs_on_a_table(arguments, words, capsys):
    own = ["--clusters", "3", "--times", "1", "--jobs", "1"] if not arguments else []
    main([*arguments, *own, "--tables", "iris"])
    printed = capsys.readouterr().out
    assert all(each in printed for each in words)


def test_the_objective_is_heeded():
    table = Table("made", np.random.default_rng(0).normal(size=(200, 2)), np.zeros(200, dtype=int), 6)
    kept = {"made 200x2 k=6 seed=0 leaves=6": dict.fromkeys(PEERS, (2.0, 0.5, 6, 0.0))}
    cheap, agreeing = (run(table, 6, 0, 1, objective, kept).ours for objective in ("cost", "agreement"))
    assert cheap.price < agreeing.price
    assert cheap.agreement < agreeing.agreement


def test_a_cluster_of_one_row_is_on_one_side():
    X = np.array([[float(i)] for i in range(20)] + [[100.0]])
    labels = np.array([0] * 10 + [1] * 10 + [2])
    assert shares(X, labels, 3, 0)[0::2] == [1.0, 1.0, 1.0]


def test_every_table_of_the_folder_has_its_place(tmp_path, monkeypatch):
    monkeypatch.setenv("BOXWOOD_DATA", str(tmp_path))
    records = {
        "few": ["x,label", *(f"{i},{i % 2}" for i in range(100))],
        "many": ["x,label", *(f"{i},{i % 60}" for i in range(120))],
        "none": ["x,y", *(f"{i},{i % 7}" for i in range(100))],
    }
    for name, lines in records.items():
        with gzip.open(tmp_path / f"{name}.csv.gz", "wt") as file:
            file.write("\n".join(lines))
    every, usual = ({table.name: table for table in tables(every=each)} for each in (True, False))
    assert [every[name].X.shape for name in records] == [(100, 1), (120, 1), (100, 2)]
    assert [every[name].classes.max() for name in records] == [1, 59, 0]
    assert "few" in usual
    assert not {"many", "none"} & set(usual)


@pytest.mark.parametrize(
    ("price", "share", "why"),
    [
        (1.1, 0.9, "as cheap"),
        (1.05, 0.9, "not found"),
        (1.05, 0.896, "not found"),
        (1.05, 0.894, "kept out"),  # 0.6% of the rows less agreement
    ],
)
def test_a_dearer_tree_has_a_reason(price, share, why):
    auto = Candidate(None, "", 1.1, 100.0)
    assert why_dearer(auto, Candidate(None, "", price, 1000 * (1 - share)), 1000) == why


def test_what_is_left_out_adds_up_and_comes_back():
    X = load_digits().data[:300, 2:12]
    labels = KMeans(10, n_init=1, random_state=0).fit_predict(X)
    whole = explain(X, labels)
    with ExitStack() as stack:
        for name, change in changes().items():
            if name != "imm":
                stack.enter_context(change())
        assert explain(X, labels).tree == explain(X, labels, method="imm").tree != whole.tree
    assert explain(X, labels).tree == whole.tree


def test_the_least_worth_for_its_time_is_left_out_first():
    def outcomes(price, agreement, seconds):
        return Outcomes(np.array([price]), np.array([agreement]), np.array([seconds]), np.ones(1), np.ones(1))

    whole = outcomes(1.1, 0.9, 10.0)
    alone = {"a": outcomes(1.2, 0.9, 9.0), "b": outcomes(1.2, 0.9, 5.0), "c": outcomes(1.1, 0.9, 9.0)}
    assert in_order(alone | {"imm": whole}, whole) == ["c", "b", "a"]
