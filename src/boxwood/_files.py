"""Files that are written beside their target and renamed, so that an error never leaves half a file."""

from __future__ import annotations

import os
import platform
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256

__all__ = ["replacing"]

_LONGEST = 54  # characters of the target's name in the temporary one: 216 bytes of the 255 that file systems allow
_HOST = sha256(platform.node().encode()).hexdigest()[:6]  # processes of another machine cannot be seen from here
_TEMPORARY = re.compile(rf"\..*\.boxwood-{_HOST}-(\d+)-[0-9a-f]{{6}}\.tmp", re.DOTALL)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield the name of a file to write, in the folder of `path`; on leaving the block it is renamed to `path`.

    After an error or Ctrl-C the file is removed, and `path` is what it was. If `path` is a link, the link stays and its
    target is replaced. A file that is replaced passes its permissions on. Files that killed processes of this machine
    left in the folder are removed.
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    _remove_abandoned(folder)
    unique = f"boxwood-{_HOST}-{os.getpid()}-{secrets.token_hex(3)}"
    temporary = os.path.join(folder, f".{name[:_LONGEST]}.{unique}.tmp")
    try:
        mode = _mode(target)
        if mode is not None:  # from the first byte on, so that nobody else can read what is written
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            os.chmod(temporary, mode)
        yield temporary
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.remove(temporary)
        raise


def _mode(path: str) -> int | None:
    """Return the permissions of a file, or None if there is none; its owner may write in any case."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode) | stat.S_IWUSR
    except FileNotFoundError:
        return None


def _remove_abandoned(folder: str) -> None:
    """Remove temporary files of processes that are no more; such a process was killed before it could do so."""
    if os.name != "posix":  # elsewhere, asking whether a process lives would end it
        return
    with suppress(OSError):
        for name in os.listdir(folder):
            found = _TEMPORARY.fullmatch(name)
            if found and not _is_alive(int(found[1])):
                with suppress(OSError):
                    os.remove(os.path.join(folder, name))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # it is another user's, or no number of a process
        return True
    return True
