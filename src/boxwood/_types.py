"""The types of arrays, spelt once."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Bools", "Floats", "Indices", "Ints", "Weights"]

Array: TypeAlias = NDArray[Any]
"""Any array; for rows it is float32 or float64, shape (n, d)."""

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Indices: TypeAlias = NDArray[np.intp]
Bools: TypeAlias = NDArray[np.bool_]

Weights: TypeAlias = Floats | None
"""Weight of each row, shape (n,); None where every row weighs 1."""
