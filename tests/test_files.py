"""Files are written beside their target and renamed."""

import os

import pytest

from boxwood._files import replacing


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
