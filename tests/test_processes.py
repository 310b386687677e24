"""Sound in other people's processes: forks, threads, read-only folders, interrupts, and no change of global state."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import psutil
import pytest
from joblib import Parallel, delayed

import boxwood
from boxwood import IMM, Reference
from boxwood.grow import imm

rng = np.random.default_rng(0)
LABELS = rng.integers(5, size=200_000)
X = (5 * rng.normal(size=(5, 4)))[LABELS] + rng.normal(size=(200_000, 4))


def run(program, **options):
    command = [sys.executable, "-W", "default", "-c", textwrap.dedent(program)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def grown_json(_=None):
    return imm(X, Reference.of(X, LABELS)).to_json()


@pytest.mark.full
def test_a_forked_child_grows_the_same_tree_after_its_parent_did():
    expected = grown_json()
    program = f"""
        import os, sys
        sys.path.insert(0, {str(Path(__file__).parents[1])!r})
        from tests.test_processes import grown_json
        parent = grown_json()
        child = os.fork()
        if child == 0:
            os._exit(0 if grown_json() == parent else 1)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert run(program).returncode == 0
    assert grown_json() == expected


@pytest.mark.full
def test_spawned_processes():
    with get_context("spawn").Pool(1) as pool:
        assert pool.map(grown_json, [None]) == [grown_json()]


def test_many_threads_at_once():
    expected = grown_json()
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(grown_json, range(16))) == {expected}


@pytest.mark.full
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_under_joblib(backend):
    small, labels = X[:2000], LABELS[:2000]
    trees = Parallel(n_jobs=2, backend=backend)(delayed(IMM(n_jobs=2).fit)(small, labels) for _ in range(4))
    assert {estimator.tree_.to_json() for estimator in trees} == {IMM().fit(small, labels).tree_.to_json()}


@pytest.mark.full
def test_a_read_only_installation_without_a_home_gives_one_note(tmp_path):
    installed = tmp_path / "boxwood"
    for path in Path(boxwood.__file__).parent.rglob("*.py"):
        target = installed / path.relative_to(Path(boxwood.__file__).parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    for folder in [installed, *(path for path in installed.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()  # a file where the cache would be: nobody, not even root, can write there
    program = f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        import numpy as np, boxwood
        assert boxwood.__file__.startswith({str(installed)!r}), boxwood.__file__
        X = np.array([[0.0], [1.0], [5.0], [6.0]])
        print(boxwood.grow.imm(X, boxwood.Reference.of(X, [0, 0, 1, 1])).predict(X).tolist())
    """
    nowhere = {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null", "PYTHONDONTWRITEBYTECODE": "1"}
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = run(program, env=environment | nowhere)
    assert done.stdout.strip() == "[0, 0, 1, 1]", done.stderr
    assert done.stderr.count("CacheNote") == 1, done.stderr
    assert "set NUMBA_CACHE_DIR" in done.stderr


@pytest.mark.full
def test_import_changes_no_global_state():
    program = """
        import os, random, threading, warnings
        import numpy as np
        def state():
            return (list(warnings.filters), random.getstate(), np.random.get_state()[1].tolist(), np.geterr(),
                    dict(os.environ), threading.active_count())
        import numba, sklearn.cluster  # what these do is theirs
        before = state()
        import boxwood
        [getattr(boxwood, name) for name in boxwood.__all__]
        assert state() == before
    """
    done = run(program)
    assert done.returncode == 0, done.stderr


def _interrupted(process):
    """Interrupt a process; return what it says, and the processor time that it had used before.

    Python drops an interrupt that comes inside of a callback of C, as numba's are: then a user presses again.
    """
    try:
        for _ in range(3):
            used = sum(psutil.Process(process.pid).cpu_times()[:2])
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                return *process.communicate(timeout=30), used
        raise AssertionError("three interrupts were lost")
    finally:
        process.kill()  # it would never end by itself


@pytest.mark.full
def test_interrupt_ends_a_long_growth_within_a_second(tmp_path):
    program = f"""
        import time
        from pathlib import Path
        import numpy as np
        from boxwood import Reference
        from boxwood.grow import expand, imm
        import boxwood.loops.jit
        boxwood.loops.jit.PATIENCE = 0.0  # all is compiled before it begins, as numba may miss an interrupt
        X = np.random.default_rng(0).normal(size=(300_000, 8))
        reference = Reference.of(X, np.arange(300_000) % 30)
        few = X[:40_000]  # enough for the loops of long tables
        imm(few, Reference.of(few, np.arange(40_000) % 30))
        expand(None, few, Reference.of(few, np.arange(40_000) % 30), max_leaf_nodes=100)
        Path({str(tmp_path / "ready")!r}).touch()
        try:
            while True:
                imm(X, reference)
                expand(None, X, reference, max_leaf_nodes=100)
        except KeyboardInterrupt:
            print(time.process_time())
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not (tmp_path / "ready").exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    time.sleep(1.0)
    out, err, used = _interrupted(process)
    assert out, err
    # in processor time, as tests share their machine: a second of all its threads
    assert float(out) - used < os.cpu_count()


@pytest.mark.full
@pytest.mark.parametrize("n_jobs", [None, 2, -1])
def test_a_worker_of_multiprocessing_is_told_nothing_of_processes(n_jobs):
    program = f"""
        import multiprocessing, warnings
        import numpy as np, pandas as pd
        import boxwood as bw
        X = np.random.default_rng(0).normal(size=(40, 3))
        frame = pd.DataFrame(X, columns=list("abc")).assign(word=["u", "v"] * 20)
        projector = bw.concepts.ConceptProjector("mean-difference", n_jobs={n_jobs})
        tasks = (
            lambda: bw.explain(frame, n_clusters=2, n_jobs={n_jobs} or -1),
            lambda: bw.MixedKMeans(2, n_jobs={n_jobs}).fit(frame),
            lambda: bw.KMedians(2, n_jobs={n_jobs}).fit(X).predict(X),
            lambda: bw.KernelKMeans(2, n_jobs={n_jobs}).fit(X).predict(X),
            lambda: bw.IMM(n_clusters=2, n_jobs={n_jobs}).fit(X).predict(X),
            lambda: projector.fit(X, dict(one=X[:, 0] > 0)).transform(X),
        )
        def run(i):
            assert multiprocessing.current_process().daemon
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                tasks[i]()
            return [str(one.message) for one in told if "parallel" in str(one.message)]
        if __name__ == "__main__":
            with multiprocessing.get_context("fork").Pool(1) as pool:
                print(pool.map(run, range(len(tasks))))
    """
    done = run(program)
    assert done.stdout.strip() == str([[]] * 6), done.stderr
    assert "Loky" not in done.stderr
