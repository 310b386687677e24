"""SIGINT, SIGTERM and SIGKILL at random moments of every command that writes a file.

Afterwards the file is what it was, or the complete new one; no unfinished file stays behind, after SIGKILL none once
the command has run again; the exit code is a documented one, and the command ends soon.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np

from tests.soak.commands import COMMANDS, GIVEN, Command, is_whole, line, place, usual
from tests.soak.parts import Wrong

__all__ = ["attempt"]

SOON = 20.0  # seconds until a command must have ended, besides the time that it takes undisturbed on this machine
BEFORE = b"what was there before\n"
CODES = {
    # 128 + number by boxwood itself; minus the number before it could set its own handlers
    signal.SIGINT: (0, 130, -signal.SIGINT),
    signal.SIGTERM: (0, 143, -signal.SIGTERM),
    signal.SIGKILL: (0, -signal.SIGKILL),
}


def attempt(seed: int, folder: Path) -> str:
    """Send a signal to a command at a random moment, and look at what is left."""
    rng = np.random.default_rng(seed)
    command, number = COMMANDS[rng.integers(len(COMMANDS))], list(CODES)[rng.integers(len(CODES))]
    after, before = float(rng.random() ** 0.7 * 1.1), rng.random() < 0.7
    kind = f"{command.name}, {number.name}"
    place(folder)
    (folder / "tmp").mkdir()
    if before:
        (folder / command.out).write_bytes(BEFORE)
    delay = after * usual(command).seconds
    about = f"{kind} after {delay:.3f} of {usual(command).seconds:.3f} seconds"
    code, said, took = _interrupted(command, folder, number, delay)
    about += f": exit code {code}, {took:.1f} seconds more; it said {said[-600:]!r}"
    _expect(took < SOON + usual(command).seconds, "ends late", about)
    _expect(code in CODES[number], f"exit code {code} after {number.name}", about)
    _expect("Traceback" not in said, f"a traceback after {number.name}", about)
    _expect(_sound(command, folder / command.out, before, code == 0), f"half a file after {number.name}", about)
    if number != signal.SIGKILL:
        _expect(_others(folder, command) == [], f"files left after {number.name}: {_others(folder, command)}", about)
        left = os.listdir(folder / "tmp")
        _expect(left == [], f"temporary files left after {number.name}: {left}", about)
    again = subprocess.run(
        line(command), cwd=folder, capture_output=True, text=True, check=False, env=_environment(folder)
    )
    _expect(again.returncode == 0, f"cannot run again: {again.stderr[-300:]}", about)
    _expect(is_whole(command, folder / command.out), "another file when run again", about)
    _expect(_others(folder, command) == [], f"files left by the next run: {_others(folder, command)}", about)
    return f"{kind}: {'done before' if code == 0 else 'stopped'}"


def _expect(true: bool, what: str, about: str) -> None:
    if not true:
        raise Wrong(f"{what}\n{about}", what)


def _environment(folder: Path) -> dict[str, str]:
    return os.environ | {"TMPDIR": str(folder / "tmp")}


def _interrupted(command: Command, folder: Path, number: signal.Signals, delay: float) -> tuple[int, str, float]:
    """Return the exit code of a command that gets a signal, what it said, and the seconds until it ended."""
    running = subprocess.Popen(
        line(command),
        cwd=folder,
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(delay)
    running.send_signal(number)
    start = time.monotonic()
    try:
        _, said = running.communicate(timeout=SOON + 2 * usual(command).seconds)
    except subprocess.TimeoutExpired:
        running.kill()
        _, said = running.communicate()
    return running.returncode, said, time.monotonic() - start


def _sound(command: Command, out: Path, before: bool, done: bool) -> bool:
    """Return whether a file is whole, or what it was where the command was not done."""
    if not out.exists():
        return not before and not done
    return (before and not done and out.read_bytes() == BEFORE) or is_whole(command, out)


def _others(folder: Path, command: Command) -> list[str]:
    return sorted(set(os.listdir(folder)) - {*GIVEN, command.out, "tmp"})
