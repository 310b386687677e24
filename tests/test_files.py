"""Files are written beside their target and renamed."""

import os
import subprocess
import sys
import tempfile
import time

import pytest

from boxwood._files import replacing, temporary_folder


@pytest.mark.skipif(os.name != "posix", reason="Windows asks for a right to make a link")
def test_replacing_follows_links_and_removes_what_is_unfinished(tmp_path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    link.symlink_to(real)

    def interrupted():
        with replacing(link) as temporary, open(temporary, "w") as file:
            file.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert link.read_text() == "old"
    with replacing(link) as temporary, open(temporary, "w") as file:
        file.write("new")
    assert link.is_symlink()
    assert link.read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == ["link.txt", "real.txt"]


@pytest.mark.skipif(os.name != "posix", reason="Windows asks for a right to make a link")
def test_links_in_a_circle_are_no_file_to_write(tmp_path):
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    one.symlink_to(other)
    other.symlink_to(one)
    circle = r"^cannot write '.*one\.json': its links lead in a circle; name another file$"
    with pytest.raises(OSError, match=circle), replacing(one):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.json", "other.json"]


def test_names_as_long_as_a_file_system_allows_can_be_replaced(tmp_path):
    for name in ("a" * 255, "é" * 127, "\U0001f333" * 63):
        with replacing(tmp_path / name) as temporary, open(temporary, "w") as file:
            file.write("new")
        assert os.listdir(tmp_path) == [name]
        os.remove(tmp_path / name)


def test_an_error_is_raised_as_it_is_if_nothing_was_written(tmp_path):
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "a.txt"):
        1 / 0  # noqa: B018
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755, 0o666])
def test_a_file_that_is_replaced_passes_its_permissions_on(tmp_path, mode):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(mode)
    with replacing(path) as temporary, open(temporary, "w") as file:
        assert os.stat(temporary).st_mode & 0o777 == mode  # while it is written, too
        file.write("new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == mode


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_read_only_file_is_replaced_and_its_owner_may_write_the_new_one(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o440)
    with replacing(path) as temporary, open(temporary, "w") as file:
        file.write("new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o640)


@pytest.mark.skipif(os.name != "posix", reason="processes of POSIX")
def test_files_of_killed_processes_are_removed_and_no_others(tmp_path):
    kill_it = "import os, sys; sys.path[:0] = eval(sys.argv[2])\n"
    kill_it += "from boxwood._files import replacing\n"
    kill_it += "with replacing(sys.argv[1]) as name, open(name, 'w') as file:\n"
    kill_it += "    file.write('half'); file.flush(); os.kill(os.getpid(), 9)\n"
    killed = subprocess.run([sys.executable, "-c", kill_it, tmp_path / "a.txt", repr(sys.path)], check=False)
    assert killed.returncode == -9
    (left,) = os.listdir(tmp_path)
    host, pid, token = left.split(".boxwood-")[1].split("-")
    others = [
        f".b.txt.boxwood-{host}-{os.getpid()}-{token}",  # of a process that lives
        f".b.txt.boxwood-{'0' * 6}-{pid}-{token}",  # of another machine
        f".b.txt.{host}-{pid}-{token}",  # of no concern to boxwood
    ]
    for name in others:
        (tmp_path / name).write_text("")
    with replacing(tmp_path / "b.txt") as temporary, open(temporary, "w") as file:
        file.write("new")
    assert sorted(os.listdir(tmp_path)) == sorted(["b.txt", *others])


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_folders_of_killed_processes_are_removed_and_no_others(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    hold = "import os, sys, tempfile; sys.path[:0] = eval(sys.argv[2])\n"
    hold += "from boxwood._files import temporary_folder\n"
    hold += "tempfile.tempdir = sys.argv[1]\n"
    hold += "with temporary_folder() as name:\n"
    hold += "    open(os.path.join(name, 'input'), 'w').close(); print(name, flush=True); sys.stdin.read()\n"
    run = [sys.executable, "-c", hold, str(tmp_path), repr(sys.path)]
    killed, alive = (subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2))
    left, held = killed.stdout.readline().strip(), alive.stdout.readline().strip()
    killed.kill()
    killed.communicate()
    host = os.path.basename(left).split("-")[1]
    others = ["boxwood-results", f"boxwood-{host}-1-abcdefgh.tmp.bak", f"boxwood-{'0' * 6}-1-abcdefgh.tmp", "t.csv"]
    link = tmp_path / f"boxwood-{host}-1-abcdefgh.tmp"
    for name in others:
        (tmp_path / name).mkdir()
    link.symlink_to(tmp_path / "t.csv")
    with temporary_folder() as young:
        assert os.path.isdir(left)  # it is new, and might be about to be locked
    for path in (left, held, *map(str, tmp_path.iterdir())):
        os.utime(path, (time.time() - 3600,) * 2)
    with temporary_folder() as folder:
        assert sorted(os.listdir(tmp_path)) == sorted(
            [*others, link.name, os.path.basename(held), os.path.basename(folder)]
        )
    assert not os.path.exists(young)
    assert not os.path.exists(folder)
    alive.communicate("")
    assert not os.path.exists(held)
    assert sorted(os.listdir(tmp_path)) == sorted([*others, link.name])
