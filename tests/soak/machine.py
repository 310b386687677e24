"""Full disks, closed streams and little memory: a message, a documented exit code, and no half-written file.

A full disk is a limit on the size of files, or, where a process may mount one in a room of its own, a small file
system. A limit on memory is one on the address space.
"""

from __future__ import annotations

import functools
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.soak.commands import COMMANDS, GIVEN, is_whole, line, place
from tests.soak.parts import PATIENT, Wrong

__all__ = ["attempt", "notes"]

BEFORE = b"what was there before\n"
CODES = (0, 2, 3)
ABORTS = (-11, -6, 127)  # of the C library, where it says that a thread or the end of a process gets no memory
MEMORY = (1000, 6000)  # MiB; with less, Python's own libraries do not start
PRINTING = (
    ("explain", "t.csv", "-k", "3"),
    ("explain", "-", "-k", "3"),
    ("explain", "t.parquet", "-l", "word", "--json"),
    ("predict", "given.json", "t.csv"),
    ("predict", "given.json", "-"),
    ("export", "given.json", "--to", "sql"),
    ("demo",),
    ("explain", "nothing.csv", "-k", "3"),
    ("--help",),
)


@functools.cache
def _may_mount() -> bool:
    tried = subprocess.run(_in_own_room("true"), capture_output=True, check=False)
    return tried.returncode == 0


def _in_own_room(script: str) -> list[str]:
    return ["unshare", "--user", "--map-root-user", "--mount", "bash", "-c", script]


def notes() -> list[str]:
    """Return how a full disk is made here."""
    return (
        [] if _may_mount() else ["no small file system may be mounted here; limits on the size of files stand for it"]
    )


def attempt(seed: int, folder: Path) -> str:
    """Run a command on a machine that lacks something."""
    rng = np.random.default_rng(seed)
    troubles: list[Callable[[np.random.Generator, Path], str]] = [_large_file, _closed_stream, _little_memory]
    troubles += [_full_disk] if _may_mount() else []
    (folder / "tmp").mkdir()
    place(folder)
    return troubles[rng.integers(len(troubles))](rng, folder)


def _large_file(rng: np.random.Generator, folder: Path) -> str:
    """Files may not grow above a size; blocks are of 1024 bytes."""
    blocks = int(np.exp(rng.uniform(0, np.log(6000))))
    return _writing(rng, folder, f"ulimit -f {blocks}; ", "files of limited size", f"ulimit -f {blocks}")


def _little_memory(rng: np.random.Generator, folder: Path) -> str:
    """The address space is limited."""
    kilobytes = 1024 * int(rng.integers(*MEMORY))
    return _writing(rng, folder, f"ulimit -v {kilobytes}; ", "little memory", f"ulimit -v {kilobytes}")


def _full_disk(rng: np.random.Generator, folder: Path) -> str:
    """Results go to a small file system, which is gone after the command; what is left there is listed first."""
    kilobytes = int(np.exp(rng.uniform(np.log(8), np.log(8000))))
    command = COMMANDS[rng.integers(len(COMMANDS))]
    (folder / "small").mkdir()
    words = [f"small/{word}" if word == command.out else word for word in line(command)]
    script = f"mount -t tmpfs -o size={kilobytes}k none small && printf before > small/{command.out} || exit 99; "
    script += f"{shlex.join(words)}; code=$?; ls -A small > left; cp small/{command.out} after; exit $code"
    done = subprocess.run(_in_own_room(script), **_how(folder))
    about = _about(f"{command.name} onto {kilobytes} kB", done)
    if done.returncode == 99:
        return "full disk: no room for the old file"
    _check_told(done, about)
    _expect((folder / "left").read_text().split() == [command.out], "files left on a full disk", about)
    after = folder / "after"
    if done.returncode:
        _expect(after.read_bytes() == b"before", "half a file on a full disk", about)
    else:
        after = after.rename(folder / f"after-{command.out}")
        _expect(is_whole(command, after), "half a file, and exit code 0", about)
    return f"full disk: {'told' if done.returncode else 'done'}"


def _closed_stream(rng: np.random.Generator, folder: Path) -> str:
    """A standard stream is closed, or goes to a device that is full."""
    ends = ("<&-", ">&-", "2>&-", ">/dev/full", "2>/dev/full", "</dev/null", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-")
    end = ends[rng.integers(len(ends))]
    args = PRINTING[rng.integers(len(PRINTING))]
    words = shlex.join([*line(COMMANDS[0])[:3], *args])
    given = "" if "<" in end else "< t.csv"
    done = subprocess.run(["bash", "-c", f"{words} {given} {end}"], **_how(folder))
    about = _about(f"{' '.join(args)} {end}", done)
    _check_told(done, about, told="2>" not in end)
    if ">/dev/full" in end and "2>" not in end:
        _expect(done.returncode != 0, "exit code 0, though nothing could be printed", about)
    _expect(set(os.listdir(folder)) == {*GIVEN, "tmp"}, "files left behind closed streams", about)
    return f"{end}: exit code {done.returncode}"


def _writing(rng: np.random.Generator, folder: Path, limit: str, kind: str, what: str) -> str:
    """Run a command that writes a file, under a limit of the shell."""
    command = COMMANDS[rng.integers(len(COMMANDS))]
    out = folder / command.out
    out.write_bytes(BEFORE)
    done = subprocess.run(["bash", "-c", limit + shlex.join(line(command))], **_how(folder))
    about = _about(f"{command.name} with {what}", done)
    _check_told(done, about)
    left = sorted(set(os.listdir(folder)) - {*GIVEN, command.out, "tmp"})
    _expect(left == [], f"files left, {kind}", f"{left}\n{about}")
    old = out.read_bytes() == BEFORE
    _expect(old if done.returncode else is_whole(command, out), f"half a file, {kind}", about)
    return f"{kind}: {'told' if done.returncode else 'done'}"


def _how(folder: Path) -> dict:
    env, caught = os.environ | {"TMPDIR": str(folder / "tmp")}, {"capture_output": True, "text": True}
    return {"cwd": folder, "check": False, "env": env, "timeout": PATIENT / 2} | caught


def _about(what: str, done: subprocess.CompletedProcess) -> str:
    return f"{what}: exit code {done.returncode}\n{done.stderr[-1500:]}"


def _check_told(done: subprocess.CompletedProcess, about: str, *, told: bool = True) -> None:
    aborted = done.returncode in ABORTS and "memory" in done.stderr
    _expect(done.returncode in CODES or aborted, f"exit code {done.returncode}", about)
    _expect("Traceback" not in done.stderr, "a traceback", about)
    if told and done.returncode:
        _expect(0 < len(done.stderr.splitlines()) <= 6, f"{len(done.stderr.splitlines())} lines of error", about)


def _expect(true: bool, what: str, about: str) -> None:
    if not true:
        raise Wrong(f"{what}\n{about}", f"{what}, {about.split(':')[0].split(' with')[-1].split()[0]}")
