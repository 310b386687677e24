"""The face: one class whose methods hand over, and pickles of the class where it once stood."""

import ast
import base64
import inspect
import pickle
import zlib
from pathlib import Path

import numpy as np
import pytest

import boxwood as bw
from boxwood.explanation.measured_tree import MeasuredTree

AGES, LABELS = [[21.0], [34.0], [38.0], [61.0], [67.0]], ["new", "loyal", "loyal", "new", "new"]


def test_it_is_one_class_and_its_methods_hand_over():
    assert bw.Explanation.__mro__ == (bw.Explanation, MeasuredTree, object)
    [cls] = ast.parse(inspect.getsource(bw.Explanation)).body
    methods = [one for one in cls.body if isinstance(one, ast.FunctionDef)]
    methods = [one for one in methods if "overload" not in map(ast.unparse, one.decorator_list)]
    long = [one.name for one in methods if len(steps_of(one)) != 1]
    assert len(methods) > 30
    assert long == ["_on"]  # other rows, or those of before


def steps_of(method):
    """Return the statements of a method, without its docstring and imports."""
    words = [one for one in method.body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)]
    return [one for one in method.body if one not in words and not isinstance(one, ast.ImportFrom)]


def test_methods_are_known_by_the_name_of_the_class():
    with pytest.raises(TypeError, match=r"^Explanation\.__init__\("):
        bw.Explanation()
    methods = inspect.getmembers(bw.Explanation, inspect.isfunction)
    own = [(name, one.__qualname__) for name, one in methods if one.__module__ == bw.Explanation.__module__]
    assert len(own) > 30
    assert all(qualified == f"Explanation.{name}" for name, qualified in own)


def test_a_pickle_of_where_the_class_once_stood_is_read():
    # `explain(AGES, LABELS, columns=["age"], max_leaf_nodes=3, objective="agreement")`, whose profile was asked for
    packed = Path(__file__).with_name("old_explanation.b64").read_text()
    stored = zlib.decompress(base64.b64decode(packed))
    assert b"boxwood.explanation.explanation" in stored
    ex = pickle.loads(stored)
    assert type(ex) is bw.Explanation
    assert ex.predict(AGES).tolist() == LABELS
    means = [np.mean([age for [age], label in zip(AGES, LABELS, strict=True) if label == name]) for name in ex.names]
    np.testing.assert_allclose([one.mean for one in ex.profile()[0].clusters], means)
    again = pickle.dumps(ex)
    assert pickle.loads(again) == ex
    assert b"boxwood.explanation.explanation" not in again
