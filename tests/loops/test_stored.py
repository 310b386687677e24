"""Machine code on disk: whatever happened to a file, the loop runs, and the file is written anew."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from boxwood.errors import CacheNote
from boxwood.loops import _stored, jit
from tests.loops.arguments import compiled
from tests.scale import law

pytestmark = pytest.mark.skipif(jit.asks_for_machine_code(), reason="numba is told how to compile, so it does")


def total(values):
    added = 0
    for i in range(len(values)):
        added += values[i]
    return added


def answer():
    """Return the sum of 0, 1, ..., 9 by a loop as a new process would have it, and whether it was compiled for that."""
    loop = compiled(total)
    result = loop(np.arange(10))
    return result, sum(loop.stats.cache_misses.values()) > 0


def flipped(path, rng):
    content = bytearray(path.read_bytes())
    content[rng.integers(len(content))] ^= 1 << rng.integers(8)
    path.write_bytes(content)


def zeros_behind(path, rng):
    size = path.stat().st_size
    keep = rng.integers(size)
    path.write_bytes(path.read_bytes()[:keep] + bytes(size - keep))


def as_folder(path, rng):
    path.unlink()
    path.mkdir()


def as_loop(path, rng):
    path.unlink()
    path.symlink_to(path.name)


DAMAGE = (
    lambda path, rng: path.write_bytes(b""),
    lambda path, rng: path.write_bytes(path.read_bytes()[: rng.integers(1, path.stat().st_size)]),
    lambda path, rng: path.write_bytes(rng.bytes(rng.integers(1, 5000))),
    lambda path, rng: path.write_bytes(path.read_bytes() + rng.bytes(rng.integers(1, 50))),
    lambda path, rng: path.unlink(),
    lambda path, rng: path.chmod(0),
    flipped,
    zeros_behind,
    as_folder,
    as_loop,
)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A folder with the index and the machine code of one loop, which was compiled for it."""
    folder = tmp_path_factory.mktemp("stored")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("numba.config.CACHE_DIR", str(folder))
        assert answer() == (45, True)
        assert answer() == (45, False)
    return folder


@law(20)
def test_a_damaged_file_is_thrown_away(seed, stored, tmp_path, monkeypatch):
    rng, damage = np.random.default_rng(seed), DAMAGE[seed % len(DAMAGE)]
    shutil.copytree(stored, tmp_path / "code")
    files = sorted(path for path in (tmp_path / "code").rglob("*.nb?"))
    assert [path.suffix for path in files] == [".nbc", ".nbi"]
    damage(files[rng.integers(2)], rng)
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "code"))
    monkeypatch.setattr(_stored, "_noted", True)
    could_be_read = damage in DAMAGE[5:6] and os.geteuid() == 0
    assert answer() == (45, not could_be_read)
    assert answer() == (45, damage is as_folder)  # where a folder is, no file can be written


@pytest.mark.full
@pytest.mark.parametrize("limit", [0, 2000])  # bytes that a file may have: none, or the index alone
def test_a_full_disk_is_noted_once(limit, tmp_path, monkeypatch):
    import resource

    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(_stored, "_noted", False)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    loops = [compiled(total) for _ in range(2)]
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        with pytest.warns(CacheNote, match="cannot be kept on disk") as noted:
            assert [loop(np.arange(10)) for loop in loops] == [45, 45]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert len(noted) == 1
    assert [answer(), answer()] == [(45, True), (45, False)]


@pytest.mark.full
def test_machine_code_of_another_source_is_not_run(stored, tmp_path, monkeypatch):
    """As after an upgrade on a full disk: the index is new, and the file of code that it names is the old one."""
    shutil.copytree(stored, tmp_path / "code")
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "code"))
    code = next(Path(tmp_path).rglob("*.nbc"))
    old = code.read_bytes()
    source = "boxwood.loops._stored.FunctionCache._impl_class.locator"
    monkeypatch.setattr(source, property(lambda self: _Edited(self._locator)))
    assert answer() == (45, True)
    code.write_bytes(old)
    assert answer() == (45, True)


@pytest.mark.full
def test_machine_code_for_other_types_is_not_run(tmp_path, monkeypatch):
    """As where two processes chose the same name for the code of two types at the same time."""
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    loop = compiled(total)
    assert (loop(np.arange(10)), loop(np.arange(10.0))) == (45, 45.0)
    first, second = sorted(tmp_path.rglob("*.nbc"))
    second.write_bytes(first.read_bytes())
    assert compiled(total)(np.arange(10.0) + 0.25) == 47.5


class _Edited:
    """The place of a loop whose source is another one now."""

    def __init__(self, place):
        self.place = place

    def __getattr__(self, name):
        return getattr(self.place, name)

    def get_source_stamp(self):
        return b"edited"
