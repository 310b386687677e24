"""Files that are written beside their target and renamed, so that an error never leaves half a file."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["replacing"]

_LONGEST = 60  # characters of the target's name in the temporary one: 240 bytes of the 255 that file systems allow


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield the name of a file to write, in the folder of `path`; on leaving the block it is renamed to `path`.

    After an error or Ctrl-C the file is removed, and `path` is what it was. If `path` is a link, the link stays and its
    target is replaced.
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:_LONGEST]}.{secrets.token_hex(4)}.tmp")
    try:
        yield temporary
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.remove(temporary)
        raise
