"""The file of a tally: arrays and a heading in an archive of numpy, with a format number and no pickled objects."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from typing import Any

import numpy as np

from boxwood._files import replacing
from boxwood._validation import shown
from boxwood.errors import DataError, ModelError
from boxwood.explanation._tally import Tally
from boxwood.reference import Moments

__all__ = ["read", "write"]

FORMAT, VERSION = "boxwood tally", 1
_MOMENTS = ("weights", "origins", "offsets", "squares")
_NAMES = (str, int, float, bool)
_DAMAGE = (ValueError, TypeError, KeyError, EOFError, OverflowError, MemoryError, NotImplementedError)


def write(tally: Tally, path: str | os.PathLike[str]) -> None:
    """Write a tally to a file, which is renamed when it is complete."""
    names = [name.item() if isinstance(name, np.generic) else name for name in tally.names]
    if strange := [name for name in names if not isinstance(name, _NAMES)]:
        raise DataError(f"names of clusters in a file must be text, numbers or booleans; got {shown(strange[0])}")
    heading = {
        "format": FORMAT,
        "version": VERSION,
        "n_bins": tally.n_bins,
        "columns": list(tally.columns),
        "names": names,
    }
    arrays = {name: getattr(tally.moments, name) for name in _MOMENTS}
    text = np.frombuffer(json.dumps(heading).encode(), dtype=np.uint8)
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, heading=text, centers=tally.centers, counts=tally.counts, **arrays)


def read(path: str | os.PathLike[str]) -> Tally:
    """Return the tally in a file."""
    with open(path, "rb") as file:
        try:
            if file.read(2) != b"PK":
                raise ValueError("it is no archive of numpy")
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                return _tally(arrays)
        except (*_DAMAGE, zipfile.BadZipFile, zlib.error) as error:
            raise ModelError(f"{os.fspath(path)} is no tally, or is damaged: {error}") from None


def _tally(arrays: Any) -> Tally:
    heading = json.loads(arrays["heading"].tobytes())
    if not isinstance(heading, dict) or heading.get("format") != FORMAT:
        raise ValueError("its heading names another format")
    if heading["version"] != VERSION:
        raise ValueError(f"it has version {heading['version']!r}, and this boxwood reads version {VERSION}")
    columns, names = heading["columns"], heading["names"]
    if not all(isinstance(name, str) for name in columns) or not all(isinstance(name, _NAMES) for name in names):
        raise ValueError("names of columns must be text, those of clusters text, numbers or booleans")
    moments = Moments(*(arrays[name] for name in _MOMENTS))
    return Tally(arrays["centers"], heading["n_bins"], arrays["counts"], moments, tuple(columns), tuple(names))
