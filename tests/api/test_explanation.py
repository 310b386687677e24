"""The face: one class whose methods hand over, and pickles of the class where it once stood."""

import ast
import inspect

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
