"""A law is tried on each of its seeds, and a failure says on which."""

import inspect
import itertools

import pytest

from tests import scale
from tests.scale import diagonal, each, law, seeds


@pytest.fixture(autouse=True)
def all_seeds(monkeypatch):
    monkeypatch.setattr(scale, "SEEDS", 1)


@pytest.mark.parametrize(("times", "n"), [(0.25, 3), (1, 10), (3, 30)])
def test_how_many_seeds_are_tried(times, n, monkeypatch):
    monkeypatch.setattr(scale, "SEEDS", times)
    assert seeds(10, first=7) == range(7, 7 + n)
    assert len(seeds(1)) >= 1


def test_a_law_is_tried_on_each_seed_with_the_fixtures_of_pytest():
    tried = []

    @law(4, first=6)
    def holds(other, seed):
        tried.append((seed, other))

    assert list(inspect.signature(holds).parameters) == ["other"]
    holds(other="x")
    assert tried == [(6, "x"), (7, "x"), (8, "x"), (9, "x")]


@pytest.mark.parametrize("error", [ValueError, pytest.fail.Exception])
def test_a_failure_names_the_seeds_that_fail(error):
    @law(6)
    def holds(seed):
        if seed in {2, 5}:
            raise error(f"bad {seed}")

    with pytest.raises(error, match="bad 2") as failure:
        holds()
    assert failure.value.__notes__ == ["seed 2; of the 6 seeds from 0 on, these fail: [2, 5]"]


def test_a_seed_that_skips_hides_no_other():
    @law(3)
    def holds(seed):
        if seed == 0:
            pytest.skip("nothing to try")
        assert seed != 2

    with pytest.raises(AssertionError):
        holds()


def test_a_law_is_skipped_where_all_seeds_skip():
    @law(3)
    def holds(seed):
        pytest.skip("nothing to try")

    with pytest.raises(pytest.skip.Exception):
        holds()


def test_each_seed_has_its_own_folder_and_no_change_of_another(tmp_path, monkeypatch):
    @law(3)
    def holds(tmp_path, monkeypatch, seed):
        (tmp_path / "file").touch(exist_ok=False)
        assert scale.SIZE == 1
        monkeypatch.setattr(scale, "SIZE", 2)

    holds(tmp_path=tmp_path, monkeypatch=monkeypatch)
    assert len(list(tmp_path.iterdir())) == 3
    assert scale.SIZE == 1


def test_each_row_of_a_table_is_tried_and_a_failure_names_its_place():
    tried = []

    @each("text, number", [("a", 1), ("b", 2), ("c", 3)])
    def holds(number, text, other):
        tried.append((text, number, other))
        assert number < 2

    assert list(inspect.signature(holds).parameters) == ["other"]
    with pytest.raises(AssertionError) as failure:
        holds(other="x")
    assert tried == [("a", 1, "x"), ("b", 2, "x"), ("c", 3, "x")]
    assert failure.value.__notes__ == ["row 1; of the 3 rows from 0 on, these fail: [1, 2]"]


@each("pair", [(1, 2), (3, 4)])
def test_a_single_name_takes_the_row_as_it_is(pair):
    assert pair in {(1, 2), (3, 4)}


@pytest.mark.parametrize("sizes", [[1], [3], [2, 2], [2, 3], [4, 2, 3], [1, 5]])
def test_each_value_is_in_one_of_the_combinations_that_are_needed(sizes):
    places = itertools.product(*map(range, sizes))
    tried = [place for place, needed in zip(places, diagonal(sizes), strict=True) if needed]
    assert len(tried) == max(sizes)
    assert [set(values) for values in zip(*tried, strict=True)] == [set(range(size)) for size in sizes]


@pytest.mark.crossed
@pytest.mark.parametrize("one", "ab")
@pytest.mark.parametrize("other", "xyz")
def test_all_combinations_are_tried_where_all_seeds_are(one, other, request):
    cases = [item for item in request.session.items if getattr(item, "originalname", None) == request.node.originalname]
    assert len(cases) in ([1, 6] if request.config.getoption("full") else [1, 3])
    assert len(cases) != 3 or (one, other) in {("a", "x"), ("b", "y"), ("a", "z")}
