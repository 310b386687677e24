"""Arrays that took long to make, kept in the folder that BOXWOOD_CACHE names, or in ~/.cache/boxwood."""

import importlib.util
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

__all__ = ["Arrays", "cached", "has_torch"]

Arrays = dict[str, np.ndarray]


def cached(name: str, make: Callable[[], Arrays]) -> Arrays | None:
    """Return arrays by name from the cache, or make and keep them; None where torch, which makes them, is not there.

    The name must say all that decides the arrays: data, network, epochs, seed.
    """
    path = Path(os.environ.get("BOXWOOD_CACHE") or Path.home() / ".cache" / "boxwood") / f"{name}.npz"
    if not path.exists():
        if not has_torch():
            return None
        arrays = make()
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".npz", delete=False) as file:
            np.savez(file, **arrays)
        os.replace(file.name, path)
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def has_torch() -> bool:
    """Return whether networks can be trained here."""
    return importlib.util.find_spec("torch") is not None
