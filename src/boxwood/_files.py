"""Files that are written beside their target and renamed, and folders for temporary files.

All of them clear away what killed runs left.
"""

from __future__ import annotations

import errno
import os
import platform
import re
import secrets
import shutil
import stat
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256

from boxwood._validation import refuse_unknown_letters

_LONGEST = 54  # characters of the target's name in the temporary one: 216 bytes of the 255 that file systems allow
_HOST = sha256(platform.node().encode()).hexdigest()[:6]  # processes of another machine cannot be seen from here
_TEMPORARY = re.compile(rf"\..*\.boxwood-{_HOST}-(\d+)-[0-9a-f]{{6}}\.tmp", re.DOTALL)
_FOLDER = re.compile(rf"boxwood-{_HOST}-\d+-\w{{8}}\.tmp")  # a name that nobody else gives to a folder
_YOUNG = 60.0  # seconds in which a folder may get its lock


@contextmanager
def temporary_folder() -> Iterator[str]:
    """Yield a new folder among the system's temporary ones; it is removed at the end of the block.

    A killed run leaves its folder behind. The next run of the same user removes it: a live run holds a lock on its
    folder, which ends with the process, however it ends. Folders of less than a minute are left alone, as their run may
    be about to lock them. Where there are no such locks, as on Windows, nothing of other runs is removed.
    """
    _remove_abandoned_folders(tempfile.gettempdir())
    with tempfile.TemporaryDirectory(
        prefix=f"boxwood-{_HOST}-{os.getpid()}-", suffix=".tmp", ignore_cleanup_errors=True
    ) as folder:
        lock = _lock_folder(folder)
        try:
            with naming(f"a temporary file in {tempfile.gettempdir()}"):
                yield folder
        finally:
            if lock is not None:
                os.close(lock)


def lasting_folder(owner: object) -> tuple[str, Callable[[], object]]:
    """Return a temporary folder, as `temporary_folder` makes it, and a function that removes it.

    It is removed when that is called, when its owner is garbage, or when the process ends, whatever comes first. A
    forked child leaves it alone.
    """
    folder, pid = ExitStack(), os.getpid()
    path = folder.enter_context(temporary_folder())

    def remove() -> None:
        if os.getpid() == pid:
            folder.close()

    return path, weakref.finalize(owner, remove)


def _lock_folder(folder: str) -> int | None:
    """Return a file descriptor that holds the lock on a folder; None if it cannot be had."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _remove_abandoned_folders(parent: str) -> None:
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if _FOLDER.fullmatch(entry.name) and _may_be_abandoned(entry):
                lock = _lock_folder(entry.path)
                if lock is not None:
                    shutil.rmtree(entry.path, ignore_errors=True)
                    os.close(lock)


def _may_be_abandoned(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder of this user that is not new."""
    with suppress(OSError):
        facts = entry.stat(follow_symlinks=False)
        mine = not hasattr(os, "getuid") or facts.st_uid == os.getuid()
        return stat.S_ISDIR(facts.st_mode) and mine and time.time() - facts.st_mtime > _YOUNG
    return False


_FULL = {errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC)}


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Say of a full disk, which the system tells without a name, what could not be written."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL or error.filename is not None:
            raise
        raise OSError(f"cannot write {what}: {error.strerror}; is the disk full?") from None


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield the name of a file to write, in the folder of `path`; on leaving the block it is renamed to `path`.

    After an error or Ctrl-C the file is removed, and `path` is what it was. If `path` is a link, the link stays and its
    target is replaced. A file that is replaced passes its permissions on. Files that killed processes of this machine
    left in the folder are removed.
    """
    refuse_unknown_letters(path)
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"cannot write '{os.fspath(path)}': there is no folder '{folder}'")
    if os.path.isdir(target):
        raise IsADirectoryError(f"cannot write '{os.fspath(path)}': it is a folder")
    if os.path.islink(target):  # else it would have been followed
        raise OSError(f"cannot write '{os.fspath(path)}': its links lead in a circle; name another file")
    _remove_abandoned(folder)
    unique = f"boxwood-{_HOST}-{os.getpid()}-{secrets.token_hex(3)}"
    temporary = os.path.join(folder, f".{name[:_LONGEST]}.{unique}.tmp")
    try:
        mode = _mode(target)
        if mode is not None:  # from the first byte on, so that nobody else can read what is written
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            os.chmod(temporary, mode)
        with naming(f"'{os.fspath(path)}'"):
            yield temporary
        try:
            os.replace(temporary, target)
        except PermissionError:  # Windows refuses it while any program has the file open; its words name the other file
            raise PermissionError(f"cannot write '{os.fspath(path)}': is it open in another program?") from None
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
