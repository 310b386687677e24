"""One part in a process of its own, so that a hang, a crash or a lack of memory is a failure and not the end."""

from __future__ import annotations

import multiprocessing
import os
import resource
import shutil
import tempfile
import time
import traceback
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from tests.soak.parts import Part, Wrong

__all__ = ["Outcome", "outcomes"]

_START = 300.0  # seconds until a process has imported everything, on a busy machine


class Outcome(NamedTuple):
    """What came of the case of a seed: its kind, and what is wrong, or None."""

    seed: int
    kind: str
    wrong: str | None = None
    key: str = ""


def outcomes(part: Part, seed: int, *, cases: int | None, seconds: float | None) -> Iterator[Outcome | list[str]]:
    """Yield the notes of a part, then the outcomes of its cases, until there were so many or the time is over."""
    stop = None if seconds is None else time.monotonic() + seconds
    seeds = iter(range(seed, seed + (1 << 62 if cases is None else cases)))
    worker = _Worker(part)
    try:
        yield worker.notes
        for one in seeds:
            if stop is not None and time.monotonic() > stop:
                return
            outcome = worker.attempt(one)
            if outcome.kind in ("hangs", "dies"):
                worker.end()
                worker = _Worker(part)
            yield outcome
    finally:
        worker.end()


class _Worker:
    """A process that tries cases, one after the other."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.folder = tempfile.mkdtemp(prefix="boxwood-soak-")
        spawn = multiprocessing.get_context("spawn")
        self.pipe, theirs = spawn.Pipe()
        self.process = spawn.Process(target=_work, args=(part, theirs, self.folder), daemon=False)
        self.process.start()
        theirs.close()
        if not self.pipe.poll(_START):
            raise RuntimeError(f"part {part.name} does not start")
        self.notes: list[str] = self.pipe.recv()

    def attempt(self, seed: int) -> Outcome:
        """Return the outcome of the case of a seed."""
        self.pipe.send(seed)
        seconds = self.part.seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))  # others may be at work
        try:
            if self.pipe.poll(seconds):
                outcome: Outcome = self.pipe.recv()
                return outcome
        except (EOFError, ConnectionError):
            self.process.join(10)
            return Outcome(seed, "dies", f"the process ended with {self.process.exitcode}", "dies")
        return Outcome(seed, "hangs", f"not done within {seconds:.0f} seconds", f"hangs {seed}")

    def end(self) -> None:
        """End the process and remove its folder."""
        self.pipe.close()
        self.process.join(1)
        self.process.kill()
        self.process.join()
        shutil.rmtree(self.folder, ignore_errors=True)


def _work(part: Part, pipe: Connection, folder: str) -> None:
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    attempt, notes = part.attempt, part.notes
    if part.memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (part.memory, part.memory))
    pipe.send(notes)
    while True:
        try:
            seed = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        own = Path(folder) / str(seed)
        own.mkdir()
        pipe.send(_outcome(attempt, seed, own))
        shutil.rmtree(own, ignore_errors=True)


def _outcome(attempt, seed: int, folder: Path) -> Outcome:
    try:
        return Outcome(seed, attempt(seed, folder))
    except Wrong as wrong:
        return Outcome(seed, "fails", str(wrong), wrong.key)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = "".join(traceback.format_exception(error))
        return Outcome(seed, "fails", text, f"{type(error).__name__} at {where.filename}:{where.lineno}")
