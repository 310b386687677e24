"""Text files that are not UTF-8: what their encoding is, and a copy in UTF-8, which is read in their place."""

from __future__ import annotations

import codecs
import gzip
import os
import re
import zlib
from collections.abc import Iterator
from functools import partial
from typing import IO, cast

from boxwood.errors import DataError

__all__ = ["encoding_of", "has_encoding", "is_utf8", "utf8_copy"]

_BLOCK = 1 << 21  # bytes; DuckDB takes lines of 2,000,000 at most, and loses rows without a word near far longer ones
_MARKS = {  # the first of them that fits
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_LETTERS = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
"""Characters of UTF-8 that take several bytes; in text of another encoding, such bytes hardly ever meet."""


def encoding_of(path: str, compression: str, name: str) -> str:
    """Return the encoding of a text file: as its mark says, else UTF-8 if all of it is, else cp1252.

    Raises
    ------
    DataError
        If it is neither, or might be a damaged file of UTF-8; if a line is too long to be one.
    """
    try:
        with _opened(path, compression) as file:
            first = file.read(4)
        for mark, encoding in _MARKS.items():
            if first.startswith(mark):
                return encoding
        if _can_be("utf-8", path, compression, name):
            return "utf-8"
        blocks = _blocks(path, compression, name)
        if _can_be("cp1252", path, compression, name) and not any(map(_LETTERS.search, blocks)):
            return "cp1252"
        with _opened(path, compression) as file:
            number = next(i for i, line in enumerate(file, 1) if not _is_text(line))
    except (OSError, EOFError, zlib.error):
        return "utf-8"  # DuckDB says what is wrong when it reads the file
    raise DataError(
        f"cannot read {name}: line {number} is not UTF-8 text, and it is not sure what else it is\n"
        "name the encoding, such as --encoding cp1252, or save the file as UTF-8"
    )


def has_encoding(name: str) -> bool:
    """Return whether Python knows an encoding of text by this name."""
    try:
        "".encode(name)
    except (LookupError, UnicodeError, ValueError):
        return False
    return True


def is_utf8(encoding: str) -> bool:
    """Return whether a name is one of UTF-8."""
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")


def utf8_copy(path: str, compression: str, encoding: str, workspace: str, name: str) -> str:
    """Write the text of a file as UTF-8, and return the name of the copy.

    Raises
    ------
    DataError
        If it is not text of that encoding.
    """
    copy = os.path.join(workspace, "utf8.csv")
    unpacked = partial(gzip.open, path) if compression == "gzip" else partial(open, path)
    try:
        opened = cast("IO[str]", unpacked(mode="rt", encoding=encoding, newline=""))
        with opened as text, open(copy, "wb") as out:
            while block := text.read(_BLOCK):
                out.write(str(block).encode())
    except (UnicodeError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"cannot read {name} as {encoding}: {getattr(error, 'reason', error)}") from None
    return copy


def _opened(path: str, compression: str) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path) if compression == "gzip" else open(path, "rb"))


def _blocks(path: str, compression: str, name: str) -> Iterator[bytes]:
    with _opened(path, compression) as file:
        while block := file.read(_BLOCK):
            if len(block) == _BLOCK and b"\n" not in block and b"\r" not in block:
                raise DataError(f"cannot read {name}: a line is longer than 2,000,000 bytes\nis it a table?")
            yield block


def _can_be(encoding: str, path: str, compression: str, name: str) -> bool:
    try:
        for _ in codecs.iterdecode(_blocks(path, compression, name), encoding):
            pass
    except UnicodeDecodeError:
        return False
    return True


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
