"""Odd values for every parameter of every public callable: a result, or an error that says what is wrong.

Errors must be ValueError (such as DataError) or TypeError, and their message a few lines that name the parameter or say
what was expected. No warning of numpy, Python or scikit-learn may get through, no call may hang or take all memory.
"""

from __future__ import annotations

import copy
import functools
import os
import re
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import boxwood as bw
from tests.soak.parts import Wrong
from tests.soak.surface import VALUES, Subject, subjects

__all__ = ["attempt", "notes"]


class _Odd:
    """An object of no known type."""

    def __repr__(self) -> str:
        return "Odd()"


ODD: dict[str, Any] = {
    "None": None, "nan": np.nan, "inf": np.inf, "-inf": -np.inf, "-1": -1, "0": 0, "1": 1, "1.5": 1.5, "0.0": 0.0,
    "10**9": 10**9, "2**63": 2**63, "-2**63": -(2**63), "10**400": 10**400, "1e308": 1e308, "5e-324": 5e-324,
    "True": True, "False": False, "'text'": "text", "''": "", "'\\x00'": "\x00", "a long text": "x" * 100_000,
    "bytes": b"abc", "an object": _Odd(), "a type": int, "a function": len, "complex": 1 + 2j, "[]": [], "()": (),
    "{}": {}, "a set": {1, 2}, "[None]": [None], "['a']": ["a"], "[[]]": [[]], "ragged": [[1, 2], [3]],
    "{'a': 1}": {"a": 1}, "empty array": np.empty((0, 3)), "no columns": np.empty((40, 0)), "a row": np.ones(3),
    "a cube": np.ones((4, 3, 2)), "short": np.ones((7, 3)), "zeros": np.zeros((40, 3)),
    "nans": np.full((40, 3), np.nan), "infinities": np.full((40, 3), np.inf), "texts": np.full((40, 3), "a"),
    "objects": np.full((40, 3), None), "complex array": np.ones((40, 3)) * 1j, "booleans": np.ones((40, 3), dtype=bool),
    "zeros of rows": np.zeros(40), "nans of rows": np.full(40, np.nan), "negative of rows": -np.ones(40),
    "huge of rows": np.full(40, 1e308), "dates": np.full(40, np.datetime64("2020-01-01")),
    "large whole": np.full((40, 3), 2**63, dtype=np.uint64), "a scalar array": np.array(3.0),
    "largest floats": np.full((40, 3), np.finfo(float).max) * [1, -1, 1], "a generator": (i for i in ()),
    "half floats": np.ones((40, 3), dtype=np.float16),
}  # fmt: skip
WORK = {"n_trees", "n_init", "n_draws", "n_permutations", "n_samples", "copies", "k", "d", "steps", "n_terms"}
WORK |= {"n_landmarks", "n_components", "max_iter", "n_jobs", "cv", "batch_size", "n_rows", "n", "v", "time_limit"}
"""Numbers that ask for work: a large one is no mistake, and takes as long as it takes."""
CODE = {"expression", "forward", "score", "pool", "tick", "verbose"}
"""Parameters whose value is run as it is."""
SAYS = re.compile(
    r"must|expected|\bgot\b|need|cannot|no such|has no|have no|only|unknown|differ|column|values|rows|Found|should",
    re.IGNORECASE,
)
"""A word of a message that says what was expected; others are counted as vague."""


@functools.cache
def _surface() -> tuple[list[Subject], list[str]]:
    return subjects()


def notes() -> list[str]:
    """Return what is covered, and what is not."""
    found, lacking = _surface()
    return [f"{len(found)} callables covered", f"not covered: {'; '.join(lacking)}" if lacking else "all are covered"]


def attempt(seed: int, folder: Path) -> str:
    """Call a public callable with one odd argument, sometimes two."""
    rng = np.random.default_rng(seed)
    found, _ = _surface()
    subject = found[rng.integers(len(found))]
    _prepare(folder)
    kinds = [each for each in subject.parameters if each.name not in CODE]
    odd = {}
    if kinds and rng.random() < 0.95:
        for at in rng.choice(len(kinds), size=min(len(kinds), 1 + (rng.random() < 0.2)), replace=False):
            odd[kinds[at].name] = _odd(rng, kinds[at].name)
    words = ", ".join(f"{name}={value}" for name, value in odd.items()) or "valid arguments"
    return f"{subject.module}: {_tried(subject, odd, f'{subject.name} with {words}')}"


def _odd(rng: np.random.Generator, name: str) -> str:
    while True:
        word = list(ODD)[rng.integers(len(ODD))]
        value = ODD[word]
        if name not in WORK or not isinstance(value, (int, float)) or not abs(value) > 1e6:
            return word


def _prepare(folder: Path) -> None:
    """Go to an empty folder with a table and a model, because some arguments are names of files."""
    if sys.stdin is not None and sys.stdin.isatty():
        sys.stdin = open(os.devnull)  # noqa: SIM115
    os.chdir(folder)
    (folder / "table.csv").write_text("a,b\n1,2\n3,4\n5,1\n")
    VALUES.explanation.save(folder / "model.json")
    VALUES.tally.save(folder / "tally")


def _tried(subject: Subject, odd: dict[str, str], about: str) -> str:
    """Return "result" or "refused"; raise a `Wrong` for anything else."""
    arguments = _own(subject.base) | {name: ODD[word] for name, word in odd.items()}
    # what may not be passed by keyword is *arguments
    starred = [each.name for each in subject.parameters if each.kind is each.VAR_POSITIONAL and each.name in arguments]
    given = [arguments.pop(name) for name in starred]
    values = [one for value in given for one in (value if isinstance(value, tuple) else (value,))]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            subject.call(*values, **arguments)
            outcome = "result"
        except (ValueError, TypeError) as error:
            outcome = _checked_message(error, odd, about)
            if not odd:
                raise Wrong(f"{about}: {error}", f"{subject.name} valid") from error
        except OSError as error:
            if not {"path", "out"} & set(odd):
                raise Wrong(_shown(error, about), _key(error, subject)) from error
            outcome = "refused"
        except MemoryError as error:
            if not WORK & set(odd):
                raise Wrong(_shown(error, about), f"memory {subject.name}") from error
            outcome = "refused"
        except Exception as error:
            raise Wrong(_shown(error, about), _key(error, subject)) from error
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")  # as who draws many pictures does
    for warning in caught:
        if warning.category is not UserWarning and not issubclass(warning.category, _theirs()):
            text = f"{about}\n{warning.category.__name__}: {warning.message}\n{warning.filename}:{warning.lineno}"
            raise Wrong(text, f"{warning.category.__name__} {warning.filename}:{warning.lineno}")
    return outcome


def _own(base: dict[str, Any]) -> dict[str, Any]:
    """Return arguments whose estimators are copies, because a call may change them."""
    return {name: copy.deepcopy(value) if hasattr(value, "fit") else value for name, value in base.items()}


def _theirs() -> tuple[type[Warning], ...]:
    from sklearn.exceptions import ConvergenceWarning

    return (bw.errors.StoppedEarlyWarning, bw.errors.CacheNote, ConvergenceWarning)


def _checked_message(error: Exception, odd: dict[str, str], about: str) -> str:
    """Return "refused", or "refused, vaguely" where the message names no parameter and nothing that was expected."""
    text = str(error)
    from_sklearn = "/sklearn/" in traceback.extract_tb(error.__traceback__)[-1].filename  # it prints whole values
    if not from_sklearn and (not text or len(text) > 1000 or len(text.splitlines()) > 8):
        raise Wrong(f"{about}: a message of {len(text)} characters: {text[:300]!r}", _key(error, None)) from error
    return "refused" if any(name in text for name in odd) or SAYS.search(text) else "refused, vaguely"


def _shown(error: BaseException, about: str) -> str:
    inner = [f"{each.filename}:{each.lineno} {each.name}" for each in traceback.extract_tb(error.__traceback__)[-4:]]
    return "\n".join([about, f"{type(error).__name__}: {str(error)[:500]}", *inner])


def _key(error: BaseException, subject: Subject | None) -> str:
    """Return the place in boxwood from which an error came."""
    ours = [each for each in traceback.extract_tb(error.__traceback__) if "/src/boxwood/" in each.filename]
    at = f"{ours[-1].filename}:{ours[-1].lineno}" if ours else getattr(subject, "name", "")
    return f"{type(error).__name__} {at}"
