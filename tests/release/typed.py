"""What checkers of types must see of the installed package: `assert_type` says what is right, `ignore` what is wrong.

`python -m tests.release` checks this file by mypy and by pyright; it is not run. Both say if a comment ignores nothing.
"""

from typing import assert_type

import numpy as np

import boxwood
from boxwood import IMM, DataError, Explanation, Reference, ThresholdTree
from boxwood.grow import imm
from boxwood.theory import bounds


def right() -> None:
    X = np.array([[0.0], [1.0], [5.0], [6.0]])
    ex = boxwood.explain(X, [0, 0, 1, 1], columns=["age"])
    assert_type(ex, Explanation)
    assert_type(ex.tree, ThresholdTree)
    assert_type(ex.to_sql(), str)
    assert_type(ex.to_json(), str)
    assert_type(ex.columns, tuple[str, ...])
    assert_type(boxwood.load("model.json"), Explanation)
    assert_type(imm(X, Reference.of(X, [0, 0, 1, 1])), ThresholdTree)
    assert_type(IMM().fit(X).tree_, ThresholdTree)
    assert_type(bounds.l2_price_bound.__name__, str)
    assert issubclass(DataError, ValueError)


def wrong(ex: Explanation) -> None:
    boxwood.explain()  # type: ignore[call-arg]
    boxwood.explain([[1.0]], n_clusters="3")  # type: ignore[arg-type]
    ex.no_such_method()  # type: ignore[attr-defined]
    boxwood.no_such_name()  # type: ignore[attr-defined]
