"""Stand-ins on whole arrays: each gives what its compiled loop gives, to the last bit."""

import copy
import tracemalloc

import numba
import numpy as np
import pytest

from boxwood.loops import jit
from tests.loops.arguments import ARGUMENTS, USED_UP, bits, compiled
from tests.loops.tables import Table
from tests.scale import seeds

COPIES = 20  # that a stand-in makes of its elements at most

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="numba is told to compile nothing")


def test_each_stand_in_is_tried():
    assert {loop.py_func for loop in ARGUMENTS} == set(jit._stand_ins)


@pytest.mark.parametrize("loop", ARGUMENTS, ids=lambda loop: loop.__name__)
def test_a_stand_in_gives_what_its_loop_gives(loop):
    machine_code, stand_in = compiled(loop.py_func), jit.interpret(loop)
    for seed in seeds(200):
        args = ARGUMENTS[loop](Table(np.random.default_rng(seed)))
        others = copy.deepcopy(args)
        assert bits(machine_code(*args)) == bits(stand_in(*others)), seed
        for these in (args, others):
            for used in these[USED_UP.get(loop, slice(0))]:
                used[:] = 0
        assert bits(args) == bits(others), seed


@pytest.mark.parametrize("loop", ARGUMENTS, ids=lambda loop: loop.__name__)
def test_a_stand_in_has_no_more_elements_at_once_than_it_says(loop):
    """With many clusters there may be far more than its arguments have."""
    stand_in, of_array = jit.interpret(loop), np.dtype(float).itemsize
    for seed in seeds(40):
        table = Table(np.random.default_rng(seed))
        table.k = 1000
        args = ARGUMENTS[loop](table)
        tracemalloc.start()
        stand_in(*args)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak <= COPIES * of_array * (jit._at_once[loop.py_func](*args) + jit.FEW), seed
