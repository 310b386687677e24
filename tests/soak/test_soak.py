"""Each part of the soak runs, the same seed is the same case, and failures are printed with what repeats them."""

import os
import time

import pytest

from tests.soak import __main__ as soak
from tests.soak.parts import PARTS, Part, Wrong
from tests.soak.worker import Outcome, _outcome, outcomes

SLOW = {"signals", "machine"}  # they start processes
MARKED = [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in PARTS]


@pytest.mark.full
@pytest.mark.parametrize("name", MARKED)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_part_finds_nothing_wrong_with_its_first_cases(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seeds, kinds = [2] if name in SLOW else [0, 1, 2, 0], []
    for i, seed in enumerate(seeds):
        folder = tmp_path / f"{i} {seed}"
        folder.mkdir()
        kinds.append(PARTS[name].attempt(seed, folder))
    assert all(kinds)
    assert name in SLOW or kinds[0] == kinds[3]


def test_the_public_surface_is_covered():
    pytest.importorskip("pandas")
    covered, lacking = PARTS["parameters"].notes
    assert int(covered.split()[0]) > 280
    assert "boxwood.explain" not in lacking


def test_failures_are_counted_by_their_reason_and_printed_with_what_repeats_them(capsys, monkeypatch):
    def fail(seed, folder):
        if seed % 2:
            raise Wrong(f"seed {seed} is odd", "odd")
        return "even"

    found = [_outcome(fail, seed, None) for seed in range(40, 50)]
    monkeypatch.setattr(soak, "outcomes", lambda *args, **options: iter([["a note"], *found]))
    assert soak.main(["--only", "models", "--cases", "10"]) == 1
    printed = capsys.readouterr().out
    for text in ("a note", "10 cases", "5  even", "FAILED 5 times", "seed 41 is odd", "--seed 41 --cases 1"):
        assert text in printed
    monkeypatch.setattr(soak, "outcomes", lambda *args, **options: iter([Outcome(0, "even")]))
    assert soak.main(["--only", "models", "--cases", "1"]) == 0


def attempt(seed, folder):
    """Be a part of the soak whose cases pass, hang and crash, in turn."""
    if seed == 1:
        time.sleep(60)
    if seed == 2:
        os._exit(7)
    return "fine"


@pytest.mark.full
def test_a_hang_and_a_crash_are_failures_and_not_the_end():
    notes, *found = outcomes(Part("test_soak", "this file", seconds=0.5), 0, cases=4, seconds=None)
    assert notes == []
    assert [outcome.kind for outcome in found] == ["fine", "hangs", "dies", "fine"]
    assert [outcome.wrong for outcome in found[1:3]] == ["not done within 0.5 seconds", "the process ended with 7"]
