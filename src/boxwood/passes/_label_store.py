"""`LabelStore`: the cluster of every row in a temporary file, so that later passes need not read all columns for it.

Where rows belong to the nearest centre, a cluster is found from all columns. The first pass that finds the clusters
writes them, by the number of the row; later passes read only the columns that they need.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from boxwood._files import lasting_folder
from boxwood._types import Indices

__all__ = ["LabelStore"]


class LabelStore:
    """Clusters of rows, from -1 on, in a file of one, two or four bytes for each row.

    Several threads may write and read at a time. The file is removed when the store is garbage, or when the process
    ends. A store that was pickled and loaded again uses the same file.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters; None is any number.

    Examples
    --------
    >>> store = LabelStore(3)
    >>> store.write(2, [0, -1]), store.write(0, [2, 1])
    (True, True)
    >>> store.finish(4)
    >>> store.is_complete, store.read(1, 3)
    (True, array([ 1,  0, -1]))
    """

    def __init__(self, n_clusters: int | None = None) -> None:
        most = 1 << 31 if n_clusters is None else n_clusters + 1  # -1 is written as 0
        self.dtype = np.dtype(np.uint8 if most <= 1 << 8 else np.uint16 if most <= 1 << 16 else np.uint32)
        self._remove: Callable[[], object]
        folder, self._remove = lasting_folder(self)
        self.path = os.path.join(folder, "clusters")
        self.n_rows: int | None = None
        self.is_usable = True
        self._open()

    def __getstate__(self) -> dict[str, Any]:
        of_process = ("_file", "_lock", "_close", "_remove")
        return {name: value for name, value in vars(self).items() if name not in of_process}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._remove = lambda: None  # the file is the other store's
        self._open()

    def _open(self) -> None:
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        self._lock = threading.Lock()  # for systems whose files have one position for all threads
        self._close = weakref.finalize(self, os.close, self._file)

    def close(self) -> None:
        """Remove the file; clusters are found anew from here on."""
        self.n_rows, self.is_usable = None, False
        self._close()
        self._remove()

    @property
    def is_complete(self) -> bool:
        """Whether the clusters of all rows are there."""
        return self.n_rows is not None

    def write(self, start: int | None, labels: Indices) -> bool:
        """Keep the clusters of the rows from `start` on; return whether that was possible.

        It is not where rows have no numbers, and not on a full disk. Then the store is of no use from there on, and
        takes no room.
        """
        if self.is_usable and start is not None:
            codes = (np.asarray(labels) + 1).astype(self.dtype)
            try:
                self._write(codes.tobytes(), start * self.dtype.itemsize)
                return True
            except OSError:
                os.ftruncate(self._file, 0)
        self.is_usable = False
        return False

    def _write(self, data: bytes, at: int) -> None:
        while data:
            if hasattr(os, "pwrite"):
                written = os.pwrite(self._file, data, at)
            else:
                with self._lock:
                    os.lseek(self._file, at, os.SEEK_SET)
                    written = os.write(self._file, data)
            data, at = data[written:], at + written

    def finish(self, n_rows: int) -> None:
        """Say that the clusters of all rows have been written."""
        self.n_rows = n_rows

    def read(self, start: int, n_rows: int) -> Indices:
        """Return the clusters of some rows."""
        n_bytes, at = n_rows * self.dtype.itemsize, start * self.dtype.itemsize
        if hasattr(os, "pread"):
            data = os.pread(self._file, n_bytes, at)
        else:
            with self._lock:
                os.lseek(self._file, at, os.SEEK_SET)
                data = os.read(self._file, n_bytes)
        if len(data) != n_bytes:
            raise OSError(f"the temporary file {self.path} lost the clusters of rows; run again")
        return np.frombuffer(data, self.dtype).astype(np.intp) - 1
