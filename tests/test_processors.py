"""The same tree on every processor, and whatever else takes BLAS threads, before or beside."""

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

from boxwood import IMM, MMDT, KernelIMM, KernelKMeans, KMedians, MixedKMeans, Reference, explain, grow
from boxwood._threads import one_blas_thread
from boxwood.concepts import ConceptProjector
from boxwood.kernels import Gaussian, Laplace, Linear, kernel_distances
from boxwood.loops.kernels import products
from boxwood.reference import Mixture


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def in_new_thread(work):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def limited():
    with one_blas_thread():
        return blas_threads()


@pytest.fixture
def two():
    """Two BLAS threads, on a machine of one processor too."""
    with threadpool_limits(2, user_api="blas"):
        yield


# ------------------------------------------------------------------------------------------------------ the limit


def test_the_limit_holds_in_every_thread(two):
    assert in_new_thread(limited) == limited() == in_new_thread(limited) == {1}
    assert blas_threads() == {2}


def test_the_limit_holds_where_another_thread_has_the_say():
    with threadpool_limits(2, user_api="blas"):
        assert in_new_thread(limited) == {1}
        assert blas_threads() == {2}
    KMeans(2, n_init=1).fit(np.eye(4))
    assert in_new_thread(limited) == {1}


def test_the_limit_ends_with_the_last_to_leave(two):
    entered, left = threading.Event(), threading.Event()

    def stay():
        with one_blas_thread():
            entered.set()
            left.wait(60)
            return blas_threads()

    with ThreadPoolExecutor(1) as pool:
        with one_blas_thread():
            staying = pool.submit(stay)
            entered.wait(60)
        assert blas_threads() == {1}
        left.set()
        assert staying.result() == {1}
    assert blas_threads() == {2}


def test_many_enter_and_leave(two):
    def often(_):
        for _ in range(20):
            with one_blas_thread(), one_blas_thread():
                assert blas_threads() == {1}

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(often, range(4)))
    assert blas_threads() == {2}


def test_the_limit_ends_after_an_error(two):
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        1 / 0  # noqa: B018
    assert blas_threads() == {2}


def test_a_number_set_inside_stays(two):
    with one_blas_thread():
        limits = threadpool_limits(3, user_api="blas")
    assert blas_threads() == {3}
    limits.restore_original_limits()


FORKS = """
import os, sys, threading
import numpy as np, scipy.linalg
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits
from boxwood._threads import one_blas_thread

def threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

def in_child(work):
    child = os.fork()
    if child == 0:
        os._exit(0 if work() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

def nothing_left():
    with one_blas_thread():
        inside = threads()
    return (inside, threads()) == ({1}, {2})

threadpool_limits(2, user_api="blas")
entered, leave = threading.Event(), threading.Event()

def stay():
    with one_blas_thread():
        entered.set()
        leave.wait()

other = threading.Thread(target=stay)
other.start()
entered.wait()
in_child(lambda: threads() == {2} and nothing_left())  # the other thread is not in the child
leave.set()
other.join()
with one_blas_thread():
    child = os.fork()
    inside = threads()
assert inside == {1} and threads() == {2}
if child == 0:
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forks():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKS], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


FIRST_FIT = """
from boxwood._threads import quietly_by_one_thread

with quietly_by_one_thread():
    from threadpoolctl import threadpool_info

    assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"} == {1}
"""


def test_the_first_fit_of_a_process_takes_one_thread_too():
    several = os.environ | {"OMP_NUM_THREADS": "2"}
    subprocess.run([sys.executable, "-W", "ignore", "-c", FIRST_FIT], env=several, timeout=120, check=True)


# --------------------------------------------------------------------------------------- sums of our own, row by row


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 2), (4, 4, 4), (9, 6, 3), (70, 41, 13)])
def test_products_are_summed_in_the_order_of_columns(shape):
    n, d, m = shape
    rng = np.random.default_rng(0)
    rows, vectors = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    expected = np.zeros((n, m))
    for j in range(d):
        expected += np.multiply.outer(rows[:, j], vectors[:, j])
    assert np.array_equal(products(rows, vectors), expected)
    assert np.array_equal(products(np.asfortranarray(rows), vectors[:, ::-1][:, ::-1]), expected)


@pytest.mark.parametrize("kernel", [Gaussian((0.02,) * 30), Linear(), Laplace(0.1)], ids=lambda one: type(one).__name__)
def test_a_row_is_the_same_alone_and_among_others(kernel):
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(600, 30)), rng.normal(size=(600, 5))
    whole = kernel.gram(X).product(W)
    for rows in ([7], [599, 0, 300], np.arange(257)):
        assert np.array_equal(kernel.gram(X[rows], X).product(W), whole[rows])
        assert np.array_equal(kernel(X[rows], X), kernel(X)[rows])


def test_scores_of_concepts_are_the_same_alone_and_among_others():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(5000, 40))
    projector = ConceptProjector.from_vectors(rng.normal(size=(6, 40)))
    scores = projector.transform(Z)
    for rows in ([3], [4999, 0], slice(100, 4200)):
        assert np.array_equal(projector.transform(Z[rows]), scores[rows])


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_kernel_means_do_not_depend_on_blas_threads(n_threads):
    rng = np.random.default_rng(0)
    X, labels, weights = rng.normal(size=(700, 20)), rng.integers(3, size=700), rng.uniform(size=700)
    expected = kernel_distances(Gaussian(0.05), X, labels, 3, sample_weight=weights)
    clusters = KernelKMeans(3, random_state=0).fit(X, sample_weight=weights)
    with threadpool_limits(n_threads, user_api="blas"):
        assert np.array_equal(kernel_distances(Gaussian(0.05), X, labels, 3, sample_weight=weights), expected)
        again = KernelKMeans(3, random_state=0).fit(X, sample_weight=weights)
    assert np.array_equal(again.labels_, clusters.labels_)
    assert again.inertia_ == clusters.inertia_


# ---------------------------------------------------------------------------------------------------- memory order


def memory_orders(X):
    return [X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]]


@pytest.mark.full
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_trees_do_not_depend_on_the_memory_order(dtype):
    X, y = load_iris(return_X_y=True)
    models = [
        *(estimator(n_clusters=3, random_state=0) for estimator in (MMDT, KernelIMM, IMM)),
        IMM(make_pipeline(StandardScaler(), KMeans(3, n_init=3, random_state=0))),
    ]
    tables = memory_orders(X.astype(dtype))
    for model in models:
        assert len({model.fit(table).tree_.to_json() for table in tables}) == 1
    assert len({KernelIMM().fit(table, y).tree_.to_json() for table in tables}) == 1
    assert len({explain(table, n_clusters=3, random_state=0).tree.to_json() for table in tables}) == 1


@pytest.mark.parametrize(
    "clusterer",
    [
        KMedians(3, random_state=0),
        KernelKMeans(3, random_state=0),
        MixedKMeans(3, categorical_features=[3], random_state=0),
    ],
    ids=str,
)
def test_clusterers_do_not_depend_on_the_memory_order(clusterer):
    results = [clusterer.fit(table).inertia_ for table in memory_orders(load_iris().data)]
    assert len(set(results)) == 1


def test_concepts_do_not_depend_on_the_memory_order():
    Z = np.random.default_rng(0).normal(size=(300, 20))
    vectors = [ConceptProjector().fit(table, {"red": Z[:, 3] > 0}).vectors_ for table in memory_orders(Z)]
    assert all(np.array_equal(vectors[0], other) for other in vectors[1:])


# ------------------------------------------------------------------------------------------------------ processors


@cache
def grown():
    """Return trees for given labels and centres, as texts, and what kernels of many columns are."""
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=400)
    centers = 2 * rng.normal(size=(4, 20))
    X = centers[labels] + rng.normal(size=(400, 20))
    reference = Reference.of(X, labels)
    projector = ConceptProjector.from_vectors(rng.normal(size=(5, 20)))
    mixture = Mixture.of(X, labels)
    trees = {
        "imm": grow.imm(X, reference),
        "imm, given centres": grow.imm(X, reference.with_centers(centers)),
        "expand": grow.expand(None, X, reference, max_leaf_nodes=5),
        "cart": grow.cart(X, labels, max_leaf_nodes=6),
        "random cuts": grow.random_cuts(centers, random_state=0),
        "mmdt": grow.mmdt(mixture),
        "concept mmdt": grow.mmdt(projector.project_mixture(mixture)),
        "kernel imm": KernelIMM(kernel=Gaussian(0.02)).fit(X, labels).tree_,
    }
    distances = kernel_distances(Linear(), X, labels, 4)
    return {name: tree.to_json() for name, tree in trees.items()} | {"distances": [x.hex() for x in distances.flat]}


def flags():
    path = Path("/proc/cpuinfo")
    return path.read_text().split() if path.exists() else []


@pytest.mark.full
@pytest.mark.parametrize(
    ("settings", "needs"),
    [
        ({"OPENBLAS_CORETYPE": "Haswell"}, "avx2"),
        ({"OPENBLAS_CORETYPE": "SkylakeX"}, "avx512f"),
        pytest.param(  # compiles every loop anew; numba keeps machine code by the kind of processor
            {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "OPENBLAS_CORETYPE": "Nehalem"},
            "sse4_2",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["Haswell", "SkylakeX", "generic"],
)
def test_trees_do_not_depend_on_the_processor(settings, needs):
    if needs not in flags():
        pytest.skip(f"this processor has no {needs}")
    program = "import json; from tests.test_processors import grown; print(json.dumps(grown()))"
    folder = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=folder, env=os.environ | settings, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == grown()
