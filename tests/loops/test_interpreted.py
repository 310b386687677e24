"""Loops without machine code on disk: small tables are interpreted, with the same result to the last bit."""

import gc
import inspect
import os
import re
import subprocess
import sys
from types import SimpleNamespace
from typing import NamedTuple

import numba
import numpy as np
import pytest

import boxwood as bw
from boxwood.grow import METHODS
from boxwood.grow.exact import _search
from boxwood.grow.exact import agreement as exact_agreement
from boxwood.loops import _machine_code, agreement, impurity, jit, mmdt, optimal, order, sums, walk
from boxwood.reference import Task
from boxwood.reference.budget import Budget
from tests.cases import make_case
from tests.loops.arguments import bits, compiled
from tests.scale import law, seeds

pytestmark = pytest.mark.skipif(jit.asks_for_machine_code(), reason="numba is told how to compile, so it does")


def interpret(monkeypatch):
    """Replace all exact loops, in each module that has their names, by functions of Python that count their calls.

    What the docstring of a loop does not call OUT cannot be written, as numpy then refuses: machine code would write.
    """
    calls = {}

    def counted(loop):
        plain, names = jit.interpret(loop), inspect.signature(loop.py_func).parameters
        is_out = [name in written_by(loop) or loop.__name__.startswith("_") for name in names]  # others call those

        def function(*args):
            calls[loop.py_func] = calls.get(loop.py_func, 0) + 1
            return plain(*(arg if out else read_only(arg) for arg, out in zip(args, is_out, strict=True)))

        return function

    for name, module in list(sys.modules.items()):
        if name.startswith("boxwood."):
            for attribute, value in list(vars(module).items()):
                if hasattr(value, "py_func") and jit.is_exact(value):
                    monkeypatch.setattr(module, attribute, counted(value))
    return calls


def written_by(loop):
    """Return the words of a loop's docstring that stand after OUT, names of what it writes among them."""
    words, out = set(), False
    for word in re.findall(r"\w+", loop.py_func.__doc__ or ""):
        out = word == "OUT" or (out and word != "IN")
        if out:
            words.add(word)
    return words


def read_only(value):
    """Return an argument of a loop, or arrays in it, as what may not be written."""
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    elif isinstance(value, tuple):
        items = [read_only(item) for item in value]
        value = type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def plain(case):
    """Return a case in the layout that loops are compiled for in any case; others take seconds to compile."""
    return case._replace(X=np.array(case.X, dtype=np.float64, order="C"))


def explained(case, method):
    """Return what an explanation says of a case, or the error."""
    try:
        ex = bw.explain(case.X, case.labels, method=method, sample_weight=case.weights)
    except (ValueError, bw.errors.DataError) as error:
        return str(error)
    return ex.tree.to_json(), ex.price, ex.agreement, ex.notes


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_interpreted_loops_give_the_same_trees(method, monkeypatch):
    cases = [plain(make_case(seed, max_rows=25)) for seed in seeds(2, first=100)]
    compiled = [explained(case, method) for case in cases]
    calls = interpret(monkeypatch)
    assert [explained(case, method) for case in cases] == compiled
    assert calls


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_interpreted_loops_give_the_same_trees_of_many_tables(method, monkeypatch):
    cases = [plain(make_case(seed)) for seed in seeds(40 if method != "auto" else 8)]  # which takes a second for each
    compiled = [explained(case, method) for case in cases]
    interpret(monkeypatch)
    assert [explained(case, method) for case in cases] == compiled


def test_files_with_logarithms_are_compiled():
    assert jit.is_exact(walk.descend)
    assert jit.is_exact(optimal.sweep_means)
    assert not jit.is_exact(mmdt.gap_minima)


# ----------------------------------------------------------------------------------- when a loop is compiled anew


class Pair(NamedTuple):
    values: np.ndarray
    n: int


def test_arrays_that_may_not_be_written_need_no_machine_code_of_their_own():
    loop = compiled(weighted.py_func)
    values = np.arange(12.0).reshape(4, 3)
    results = set()
    for column in (values[:, 1].copy(), read_only(values[:, 1].copy())):
        for pair in (Pair(values, 3), read_only(Pair(values, 3))):
            results.add(loop(column, pair))
    assert len(results) == len(loop.signatures) == 1
    assert loop(values[:, 1], Pair(values, 3)) in results
    assert len(loop.signatures) == 2  # a column of a table is of another layout


@jit.jit
def weighted(column, pair):
    total = 0.0
    for i in range(len(column)):
        total += column[i] * pair.values[i, pair.n - 1]
    return total


# ----------------------------------------------------------------------------- a search that is compiled on its way


def begun_anew(loop, looks):
    """Return a search that is interpreted for so many looks, then compiled, and the bits given to machine code."""
    loop.load()
    other, given = jit.jit(loop.py_func), []
    other.run = lambda *args: given.append(bits(args)) or loop(*args)

    def search(*args):
        other.patience, other.spent = looks * jit.LOOK, 0.0
        return other._in_python(*args)

    return search, given


def searched(task, leaves, loops, monkeypatch):
    """Return the best tree by some loops, and the bits of what each call returned and wrote.

    Left out are bounds of places, as these arrays are longer than there are places, and hold anything behind them.
    """
    told, written = [], {"least_of", "state", "cuts", "work"}

    def watched(loop, names):
        def search(*args):
            result = loop(*args)
            told.append((bits(result), [bits(arg) for name, arg in zip(names, args, strict=True) if name in written]))
            return result

        return search

    for name, loop in loops.items():
        parameters = inspect.signature(getattr(agreement, name).py_func).parameters
        monkeypatch.setattr(exact_agreement, name, watched(loop, parameters))
    found = exact_agreement.agreeing_of(task, leaves)
    return found.tree.to_json(), found.mistakes, found.bound, told


@law(200)
def test_a_search_gives_the_same_compiled_interpreted_and_begun_anew(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 16)), int(rng.integers(1, 4))
    X = rng.integers(0, 6, size=(n, d)) if seed % 2 else rng.normal(size=(n, d))
    budget = Budget.of(max_depth=int(rng.integers(2, 4)), min_samples_leaf=int(rng.integers(1, 3)))
    reference = bw.Reference.of(X, rng.permutation(np.arange(n) % 3))
    task = Task.of(X, reference, sample_weight=rng.integers(1, 4, size=n).astype(float), budget=budget)
    leaves, looks = int(rng.integers(2, 9)), int(rng.integers(1, 40))
    loops = {name: getattr(agreement, name) for name in ("solve", "look")}
    anew = {name: begun_anew(loop, looks)[0] for name, loop in loops.items()}
    plain = {name: jit.interpret(loop) for name, loop in loops.items()}
    told = [searched(task, leaves, kind, monkeypatch) for kind in (loops, plain, anew)]
    assert told[0] == told[1] == told[2]


def test_a_search_begins_anew_with_its_arguments_as_they_were():
    """Machine code is given what the interpreted search was given, whatever that wrote until its steps were spent."""
    args, others = search_arguments(), search_arguments()
    search, given = begun_anew(agreement.solve, 10)
    result = search(*args)
    assert given == [bits(others)]
    assert bits((result, args)) == bits((agreement.solve(*others), others))


def test_an_interpreted_search_leaves_its_inner_loop_as_it_is(monkeypatch):
    calls, run = [], agreement.cut_sides.run
    monkeypatch.setattr(agreement.cut_sides, "run", lambda *args: calls.append(1) or run(*args))
    jit.interpret(agreement.solve)(*search_arguments())
    assert calls


def search_arguments(n=60):
    """Return arguments of `solve` whose search takes some thousand steps."""
    rng = np.random.default_rng(0)
    order = np.array([rng.permutation(n) for _ in range(3)], dtype=np.int32)
    codes = np.argsort(order, axis=1).astype(np.int32)
    labels = rng.integers(0, 3, n)
    return (
        order,
        codes,
        labels,
        np.ones(n, dtype=np.int64),
        3,
        4,
        1,
        agreement.NONE,
        np.full((3, 2), -1),
        np.zeros(1, int),
        agreement.NONE,
    )


# ------------------------------------------------------------------------------------- when a loop is interpreted


@pytest.fixture
def uncompiled(monkeypatch, tmp_path):
    """A loop of which no machine code is known, with what would compile it and what watches."""
    told = []
    loop = jit.jit(order.set_sides.py_func)
    loop.load()
    monkeypatch.setattr(loop.machine, "is_absent", lambda args: True)
    monkeypatch.setattr(loop.machine, "function_for", lambda args: told.append("compiled") or (lambda *args: None))
    monkeypatch.setattr(loop.machine.loop, "_cache", SimpleNamespace(cache_path=str(tmp_path)))
    with jit.watched_compiling(lambda: told.append("watched")):
        yield loop, told


def arguments(n, dtype=np.int32):
    return np.arange(n, dtype=dtype) * 2, 0, n // 2, n, np.zeros(n, dtype=bool)


def test_a_small_table_is_interpreted_and_a_large_one_compiled(uncompiled):
    loop, told = uncompiled
    args = arguments(10)
    loop(*args)
    assert args[-1].tolist() == [True] * 5 + [False] * 5
    assert told == []
    loop(*arguments(200_000))
    assert told == ["watched", "compiled"]


def test_a_young_process_interprets_small_calls_whatever_is_on_disk(monkeypatch):
    loop = jit.jit(order.set_sides.py_func)
    monkeypatch.setattr(jit.Loop, "young", jit.YOUNG)
    loop(*arguments(10))
    assert loop.machine is None
    assert jit.Loop.young == pytest.approx(jit.YOUNG - loop.spent)
    monkeypatch.setattr(jit.Loop, "young", 1e-9)
    args = arguments(10)
    loop(*args)
    assert loop.machine is not None
    assert args[-1].tolist() == [True] * 5 + [False] * 5


def test_a_young_process_loads_numba_for_a_call_that_takes_long(monkeypatch):
    loop = jit.jit(order.set_sides.py_func)
    monkeypatch.setattr(jit.Loop, "young", jit.YOUNG)
    loop(*arguments(20_000))
    assert loop.machine is not None
    assert jit.Loop.young == 0


def in_nodes(n, d, k):
    entries, labels = np.tile(np.arange(n, dtype=np.int32) * 2, (d, 1)), np.arange(n, dtype=np.uint8) % k
    node = entries, 0, d, 0, n, labels, np.empty(0, dtype=np.int64), np.bincount(labels, minlength=k)
    return *node, np.arange(k), np.ones((k, k), dtype=np.int64)


def test_calls_of_small_nodes_do_not_make_those_of_large_ones_look_dear(monkeypatch):
    """A stand-in takes some tenths of a millisecond before it begins, whatever the size of the node."""
    loop, now = jit.jit(impurity.best_by_centers.py_func), iter(np.arange(0.0, 1.0, 0.0003))
    monkeypatch.setattr(jit, "time", SimpleNamespace(thread_time=lambda: next(now)))
    loop._in_python(*in_nodes(10, 3, 2))
    large = in_nodes(10_000, 3, 10)
    assert loop._seconds(loop._size(large)) < jit.PATIENCE * jit._bytes(loop, set())


def test_a_stand_in_may_go_over_many_columns_where_it_holds_one_at_a_time():
    loop, large = impurity.best_by_centers, in_nodes(10_000, 20, 10)
    assert loop._size(large) > jit.MANY
    assert loop._may_be_interpreted(large, loop._size(large))
    assert not loop._may_be_interpreted(in_nodes(500_000, 1, 10), 1)


def test_no_garbage_is_collected_in_the_time_of_a_call():
    """A collection of what imports have left takes as long as a large table would, and numba would be loaded."""
    loop, phases, threshold = jit.jit(order.set_sides.py_func), [], gc.get_threshold()

    def plain():
        phases.clear()
        kept = [[i] for i in range(10_000)]
        return len(kept), len(phases)

    def noted(phase, _):
        phases.append(phase)

    gc.callbacks.append(noted)
    try:
        gc.set_threshold(100)
        assert loop._interpret(plain, ()) == (10_000, 0)
        assert gc.isenabled()
    finally:
        gc.callbacks.remove(noted)
        gc.set_threshold(*threshold)


def test_longer_code_is_interpreted_for_longer():
    assert jit._bytes(order.set_sides, set()) < jit._bytes(walk.descend, set()) < jit._bytes(optimal.sweep_means, set())
    inner = len(walk._leaf_of.py_func.__code__.co_code) + len(walk.descend.py_func.__code__.co_code)
    assert jit._bytes(walk.descend, set()) == inner


def test_patience_spans_processes(uncompiled):
    loop, told = uncompiled
    loop(*arguments(10))
    assert 0 < loop.spent < loop.patience

    def in_a_later_process(spent):
        loop.spent, later = spent * loop.patience, jit.jit(loop.py_func)
        loop._keep()  # as the process ends
        later.machine = loop.machine
        later.spent = 0.5 * loop.patience
        is_quick = later._is_quick(arguments(10))
        assert later.before == pytest.approx(loop.spent, abs=1e-4)
        return is_quick

    assert in_a_later_process(0.9)  # a process has the whole time,
    assert not in_a_later_process(1.1)  # until that was used up
    loop(*arguments(10))
    assert told == ["watched", "compiled"]
    loop._keep()
    assert loop.machine.spent_before() == 0.0  # other kinds of arguments have the whole time again


@pytest.mark.parametrize("text", ["", "soon", "-1", "nan", "\xff"])
def test_a_damaged_file_of_the_time_spent_counts_for_nothing(text, uncompiled, tmp_path):
    loop, _ = uncompiled
    (tmp_path / "order.set_sides.spent").write_text(text, "utf-8")
    assert loop.machine.spent_before() == 0.0


def test_without_a_folder_no_time_is_kept(uncompiled, tmp_path):
    machine = uncompiled[0].machine
    for cache in (SimpleNamespace(cache_path=str(tmp_path / "absent")), SimpleNamespace(cache_path=None), None):
        machine.loop._cache = cache
        machine.keep(1.0)
        assert machine.spent_before() == 0.0
        machine.forget()


def test_patience_ends(uncompiled):
    loop, told = uncompiled
    loop.spent = 1.0
    loop(*arguments(10))
    assert told == ["watched", "compiled"]


def test_the_elements_of_arguments_are_counted_twice_at_most(uncompiled, monkeypatch):
    (loop, told), count, counted = uncompiled, jit._count_elements, []
    monkeypatch.setattr(jit, "_count_elements", lambda *values: counted.extend(values) or count(*values))
    args = arguments(10)
    loop(*args)
    assert told == []
    assert all(1 <= sum(one is arg for one in counted) <= 2 for arg in args)
    loop.spent = loop.patience
    counted.clear()
    loop(*args)
    assert told == ["watched", "compiled"]
    assert not counted


def test_a_call_that_will_take_long_is_compiled(uncompiled):
    loop, told = uncompiled
    loop(*arguments(1000))
    assert told == []
    assert loop.rate > 0
    loop.rate = loop.patience / 1000
    loop(*arguments(1000))
    assert told == ["watched", "compiled"]


def test_arrays_whose_arithmetic_differs_are_compiled(uncompiled):
    loop, told = uncompiled
    loop(*arguments(10, dtype=np.int16))
    assert told == ["watched", "compiled"]
    assert jit._count_elements(np.zeros(3), (np.zeros((2, 2)), 5)) == 7
    assert jit._is_same((np.zeros(3), (np.zeros((2, 2)), 5)))
    assert not jit._is_same((np.zeros(3), np.zeros(2, dtype=np.float32)))
    assert not jit._is_same(np.float32(1))


def test_a_stand_in_runs_larger_calls_of_all_kinds(uncompiled, monkeypatch):
    loop, told = uncompiled
    monkeypatch.setattr(jit, "_stand_ins", {})
    jit.stands_in_for(loop)(lambda *args: told.append("stood in"))
    for n in (10, 20_000, 10):
        loop(*arguments(n, dtype=np.int16))
    assert told == ["stood in"] * 3
    loop(*arguments(1_000_000))
    assert told[3:] == ["watched", "compiled"]


def test_a_stand_in_is_run_by_the_loops_that_call_its_loop(monkeypatch):
    monkeypatch.setattr(jit, "_stand_ins", {})
    jit.stands_in_for(walk._leaf_of)(lambda *args: 1)
    out = np.zeros(2)
    jit.interpret(walk.descend)(np.zeros((2, 1)), np.zeros(2, dtype=int), 0, 0, 0, np.array([3.0, 5.0]), out)
    assert out.tolist() == [5.0, 5.0]


def test_results_are_numbers_of_python():
    assert jit._as_python((np.int64(3), (np.float64(0.5), np.bool_(True)))) == (3, (0.5, True))
    assert [type(x) for x in jit._as_python((np.int64(3), np.float64(0.5), np.bool_(True)))] == [int, float, bool]
    array = np.arange(3)
    assert jit._as_python(array) is array


def test_bounds_are_checked_in_compiled_loops(uncompiled, monkeypatch):
    loop, told = uncompiled
    monkeypatch.setattr("numba.config.BOUNDSCHECK", 1)
    loop(*arguments(10))
    assert told == ["watched", "compiled"]


def test_another_numba_compiles(monkeypatch):
    loop = jit.jit(order.set_sides.py_func)
    loop.load()
    monkeypatch.setattr(loop.machine.loop, "_cache", type("Cache", (), {"_cache_file": object()})())
    assert not loop.machine.is_absent(arguments(10))


@pytest.mark.full
def test_a_first_call_compiles_little_and_a_second_process_knows_what_was_compiled(tmp_path):
    script = (
        "import numpy as np\n"
        "from boxwood.loops import jit as _jit\n"
        "from boxwood.loops.order import set_sides\n"
        "told = []\n"
        "with _jit.watched_compiling(lambda: told.append(1)):\n"
        "    for n in (10, 100_000, 10):\n"
        "        set_sides(np.arange(n, dtype=np.int32) * 2, 0, n // 2, n, np.zeros(n, dtype=bool))\n"
        "        print(len(told), len(set_sides.machine.loop.signatures) if set_sides.machine else '-')\n"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_BOUNDSCHECK": "0"},
        ).stdout.split()
        for _ in range(2)
    ]
    assert printed == [["0", "-", "1", "1", "1", "1"], ["0", "-", "0", "1", "0", "1"]]


@pytest.mark.full
def test_code_kept_for_a_class_that_has_another_name_now_is_compiled_anew(tmp_path):
    """As after an upgrade: the folder of compiled code stays, and a loop may stand in the same line as before."""
    text = """
from typing import NamedTuple
import numpy as np
from boxwood.loops.jit import jit
class {name}(NamedTuple):
    values: object
@jit
def first(holder):
    return holder.values[0]
print(first({name}(np.ones(3))))
"""
    environment = os.environ | {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for name in ("Before", "After"):
        (tmp_path / "holders.py").write_text(text.format(name=name))
        done = subprocess.run(
            [sys.executable, "-c", "import holders"], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert (done.stdout, done.stderr) == ("1.0\n", "")
    assert len(list((tmp_path / "cache").rglob("*.nbi"))) == 1


def test_constants_and_constant_arrays_compile_no_loop_twice(monkeypatch):
    """A number in the source, or an array that cannot be written beside one that can, would be a kind of its own."""
    kinds = set()
    descend = walk.descend
    monkeypatch.setattr(walk, "descend", lambda *args: kinds.add(tuple(map(numba.typeof, args))) or descend(*args))
    X = np.arange(8.0)[:, None]
    ex = bw.explain(X, [0, 0, 0, 0, 1, 1, 1, 1])
    for run in (ex.tree.predict, ex.tree.apply, ex.predict, ex.apply):
        run(X)
    assert len(kinds) == 1
    args = np.zeros((1, 1)), np.zeros(1, dtype=np.int64), np.ones(1), np.ones((1, 1)), 1.0, np.ones(3)
    loops = _machine_code._space_of(vars(sums))
    anew = numba.njit(_machine_code._in_space(sums.add_parts, loops))  # the other one may be on disk
    anew.compile(tuple(map(numba.typeof, (*args, np.zeros((1, 3, 1)), np.zeros((1, 3))))))
    kinds_of_part = loops["_deposit"].signatures
    assert kinds_of_part
    assert not [kinds for kinds in kinds_of_part if "Literal" in str(kinds)]


def test_leaves_compile_no_loop_twice(monkeypatch):
    """Rows of the exact search come from an order, and from whoever asks for one leaf."""
    kinds, ask = set(), _search.leaf_cost
    monkeypatch.setattr(_search, "leaf_cost", lambda rows, *args: kinds.add(rows.dtype) or ask(rows, *args))
    nothing = np.empty((2, 0), dtype=np.int64)
    sums_of = _search.LoopRows(np.zeros((1, 2), dtype=np.int32), nothing, np.ones((2, 3)), 1.0)
    assert [sums_of.leaf(np.arange(2, dtype=dtype)) for dtype in (np.int32, np.int64)] == [0, 0]
    assert len(kinds) == 1
