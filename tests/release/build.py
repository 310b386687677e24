"""Two builds of one commit, which must be the same bytes, and what a sdist and a wheel must hold."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from hashlib import sha256
from pathlib import Path

import boxwood

__all__ = ["ROOT", "Wrong", "build"]

ROOT = Path(__file__).parents[2]
LARGEST_WHEEL = 2_000_000  # bytes
IN_SDIST = ("src/boxwood/py.typed", "tests/conftest.py", "CHANGELOG.md", "CITATION.cff", "LICENSE", "pyproject.toml")


class Wrong(Exception):
    """What must not be published."""


def build(out: Path) -> Path:
    """Build the commit that is checked out into `out`, print the hashes, and return the path of the wheel.

    Both builds begin with an export of the commit, in folders, time zones and file permissions that differ. The time in
    the archives is that of the commit.
    """
    changed = _git("status", "--porcelain", "--untracked-files=no")
    if changed:
        raise Wrong(f"there are changes that are not committed, and would not be built:\n{changed}")
    _check_tag()
    with tempfile.TemporaryDirectory() as folder:
        first, second = (_built(Path(folder) / name, *how) for name, how in _WAYS.items())
        for one, other in zip(first, second, strict=True):
            hashes = [sha256(path.read_bytes()).hexdigest() for path in (one, other)]
            print(f"{one.name}  {one.stat().st_size:,} bytes  sha256 {' '.join(sorted(set(hashes)))}", flush=True)
            if len(set(hashes)) > 1:
                raise Wrong(f"two builds of {one.name} differ")
        sdist, wheel = first
        _check_sdist(sdist)
        _check_wheel(wheel)
        _run(sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel))
        out.mkdir(parents=True, exist_ok=True)
        for earlier in (*out.glob("boxwood-*.whl"), *out.glob("boxwood-*.tar.gz")):
            earlier.unlink()  # it must not be published beside the new one
        return Path(shutil.copy(sdist, out)).parent / Path(shutil.copy(wheel, out)).name


_WAYS = {"a": (0o022, "UTC"), "another folder": (0o077, "Asia/Tokyo")}
"""Folders of the builds, with their masks of permissions and time zones."""


def _built(folder: Path, umask: int, zone: str) -> tuple[Path, Path]:
    """Return the paths of the sdist and of the wheel that is made of it."""
    source, out = folder / "source", folder / "out"
    source.mkdir(parents=True)
    archive = folder / "source.tar"
    _git("archive", "--output", str(archive), "HEAD")
    with tarfile.open(archive) as files:
        files.extractall(source, filter="data")
    when = {"SOURCE_DATE_EPOCH": _git("log", "-1", "--format=%ct"), "TZ": zone}
    _run(sys.executable, "-m", "build", "--outdir", str(out), str(source), environment=when, umask=umask)
    sdist, wheel = next(out.glob("*.tar.gz")), next(out.glob("*.whl"))
    return sdist, wheel


def _check_tag() -> None:
    """Check that the tags of the commit that are versions are the version of the package, and that it has a day."""
    tags = [tag for tag in _git("tag", "--points-at", "HEAD").split() if re.match(r"v\d", tag)]
    if tags and tags != [f"v{boxwood.__version__}"]:
        raise Wrong(f"the commit has the tags {', '.join(tags)}, and boxwood.__version__ is {boxwood.__version__}")
    newest = re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    day = rf"{re.escape(boxwood.__version__)} \(\d{{4}}-\d\d-\d\d\)"
    if tags and not (newest and re.fullmatch(day, newest[1])):
        raise Wrong(f"the first heading of CHANGELOG.md must be '## {boxwood.__version__} (YEAR-MONTH-DAY)'")
    if tags and "example.org" in (ROOT / "pyproject.toml").read_text(encoding="utf-8"):
        raise Wrong("project.urls of pyproject.toml has example.org where the address of the repository belongs")


def _check_sdist(path: Path) -> None:
    with tarfile.open(path) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    lacking = [name for name in IN_SDIST if name not in names]
    if lacking:
        raise Wrong(f"the sdist lacks {', '.join(lacking)}")


def _check_wheel(path: Path) -> None:
    if path.stat().st_size >= LARGEST_WHEEL:
        raise Wrong(f"the wheel has {path.stat().st_size:,} bytes, and may have {LARGEST_WHEEL:,}")
    with zipfile.ZipFile(path) as files:
        names = set(files.namelist())
    package = ROOT / "src"
    expected = {each.relative_to(package).as_posix() for each in package.rglob("*") if _is_source(each)}
    expected.add("boxwood/cli/customers.csv")  # from examples/
    inside = {name for name in names if not name.partition("/")[0].endswith(".dist-info")}
    if inside != expected:
        raise Wrong(f"the wheel and src/ differ in {', '.join(sorted(inside ^ expected))}")


def _is_source(path: Path) -> bool:
    return path.is_file() and not any(part in ("__pycache__", ".DS_Store") for part in path.parts)


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def _run(*command: str, environment: dict[str, str] | None = None, umask: int = -1) -> None:
    """Run a command; print what it says only if it fails."""
    where = {"umask": umask} if os.name == "posix" else {}
    variables = {**os.environ, **(environment or {})}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, **where)
    if done.returncode != 0:
        raise Wrong(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
