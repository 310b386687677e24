"""Clean environments in which the wheel is installed and tried: each Python, the oldest packages, each extra alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from glob import glob
from pathlib import Path
from typing import Any, NamedTuple

from tests.release.build import ROOT, Wrong

__all__ = ["ENVIRONMENTS", "try_all"]

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
TRIED = Path(__file__).with_name("tried.py")
TYPED = Path(__file__).with_name("typed.py")
ENVIRONMENTS = {
    "newest": "each Python with the newest packages, without any extra",
    "oldest": "the oldest Python with the oldest packages that are allowed",
    "extras": "the oldest Python with each extra alone",
    "types": "what mypy and pyright see of the installed package",
}


class Outcome(NamedTuple):
    """An environment and what came of it."""

    environment: str
    versions: str
    said: str
    went_well: bool


def try_all(wheel: Path, pythons: list[str] | None, only: list[str] | None) -> int:
    """Try the wheel in all environments, print a table in Markdown, and return 1 if something failed."""
    found = dict(_pythons(pythons or list(PYTHONS)))
    if not found:
        raise Wrong("none of these Pythons is there")
    outcomes = []
    print("\n| environment | versions | what ran |\n|---|---|---|", flush=True)
    for outcome in _outcomes(wheel.resolve(), found, only or list(ENVIRONMENTS)):
        print(f"| {outcome.environment} | {outcome.versions} | {outcome.said} |", flush=True)
        outcomes.append(outcome)
    for name in (name for name in pythons or PYTHONS if name not in found):
        print(f"| Python {name} | | left out: it is not there |")
    failed = sum(not outcome.went_well for outcome in outcomes)
    print(f"\n{failed or 'none'} of {len(outcomes)} failed")
    return int(failed > 0)


def _outcomes(wheel: Path, pythons: dict[str, str], kinds: list[str]) -> Iterator[Outcome]:
    oldest = next(iter(pythons.values()))
    if "newest" in kinds:
        for python in pythons.values():
            yield _tried("newest packages", wheel, python)
    if "oldest" in kinds:
        yield _tried("oldest packages", wheel, oldest, extras=("pandas",), floors=True)
    if "extras" in kinds:
        for extra in _extras():
            yield _tried(f"boxwood[{extra}] alone", wheel, oldest, extras=(extra,))
    if "types" in kinds:
        yield _typed(wheel, oldest)


def _pythons(names: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the Pythons that are there: their names, and the paths of their interpreters."""
    for name in names:
        pyenv = glob(os.path.expanduser(f"~/.pyenv/versions/{name}.*/bin/python"))
        for candidate in (name, f"python{name}", *pyenv):
            path = shutil.which(candidate)
            if path and subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0:
                yield name, path
                break


def _extras() -> list[str]:
    return list(_project()["optional-dependencies"])


def _floors(extras: tuple[str, ...]) -> list[str]:
    """Return what the project asks for, to be installed in its oldest versions."""
    project = _project()
    return [*project["dependencies"], *(each for extra in extras for each in project["optional-dependencies"][extra])]


def _project() -> dict[str, Any]:
    with open(ROOT / "pyproject.toml", "rb") as file:
        return dict(tomllib.load(file)["project"])


def _tried(name: str, wheel: Path, python: str, extras: tuple[str, ...] = (), floors: bool = False) -> Outcome:
    """Install the wheel in a new environment, and run there what uses it."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        installed = _installed(folder, wheel, python, extras, floors)
        if isinstance(installed, str):
            return Outcome(name, _version(python), f"**not installed**: {installed}", False)
        work = Path(folder) / "work"
        work.mkdir()
        return _told(name, work, installed, TRIED, *extras)


def _typed(wheel: Path, python: str) -> Outcome:
    """Check a program of a user with both checkers of types, in an environment that has only the wheel."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        installed = _installed(folder, wheel, python, ())
        if isinstance(installed, str):
            return Outcome("types", _version(python), f"**not installed**: {installed}", False)
        program = shutil.copy(TYPED, folder)
        (Path(folder) / "pyrightconfig.json").write_text('{"reportUnnecessaryTypeIgnoreComment": "error"}')
        said = [
            _last_line("mypy", "-m", "mypy", "--strict", "--python-executable", str(installed), program, folder=folder),
            _last_line("pyright", "-m", "pyright", "--pythonpath", str(installed), "-p", folder, folder=folder),
        ]
    return Outcome("types", _version(python), "; ".join(line for _, line in said), all(well for well, _ in said))


def _last_line(name: str, *command: str, folder: str) -> tuple[bool, str]:
    done = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False)
    lines = (done.stdout.strip() or done.stderr.strip()).splitlines() or [""]
    if done.returncode != 0:
        return False, f"**{name}**: {'<br>'.join(lines)}"
    return True, f"{name}: {lines[-1]}"


def _installed(folder: str, wheel: Path, python: str, extras: tuple[str, ...], floors: bool = False) -> Path | str:
    """Return the Python of a new environment that has the wheel; or, as text, why it could not be installed."""
    place = Path(folder) / "environment"
    subprocess.run([python, "-m", "venv", "--without-pip", str(place)], check=True)
    inside = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    what = f"boxwood[{','.join(extras)}] @ {wheel.as_uri()}" if extras else str(wheel)
    install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(inside)]
    done = subprocess.run(
        [*install, what, *(["--resolution", "lowest-direct", *_floors(extras)] if floors else [])],
        capture_output=True,
        text=True,
        check=False,
    )
    return inside if done.returncode == 0 else " ".join(done.stderr.split())


def _told(name: str, work: Path, python: Path, program: Path, *arguments: str) -> Outcome:
    """Run a program in an empty folder, apart from this process; its last two lines are for the table."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    clean["NUMBA_CACHE_DIR"] = str(work / "numba")
    clean["PATH"] = os.pathsep.join([str(python.parent), clean["PATH"]])
    done = subprocess.run(
        [str(python), str(program), *arguments], cwd=work, env=clean, capture_output=True, text=True, check=False
    )
    lines = done.stdout.strip().splitlines()[-2:]
    if done.returncode != 0 or len(lines) < 2:
        why = "<br>".join((done.stderr or done.stdout).strip().splitlines()[-8:])
        return Outcome(name, lines[0] if lines else _version(str(python)), f"**failed**: {why}", False)
    return Outcome(name, lines[0], lines[1], True)


def _version(python: str) -> str:
    return subprocess.run([python, "-V"], capture_output=True, text=True, check=True).stdout.strip()
