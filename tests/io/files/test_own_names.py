"""Names that the program chose itself: what somebody else put there is not followed, nor written to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from refbrowser.io.files.own_names import create_own, fresh_folder, open_own, own_folder, remove

APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, pipes and owners of POSIX")


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim"
    path.write_bytes(b"precious")
    return path


@pytest.mark.parametrize("plant", [os.symlink, os.link])
@pytest.mark.parametrize("flags", [APPEND, os.O_RDWR | os.O_CREAT, os.O_WRONLY | os.O_TRUNC, os.O_RDONLY])
def test_a_link_is_not_opened(victim: Path, plant: object, flags: int) -> None:
    path = victim.with_name("own")
    plant(victim, path)  # type: ignore[operator]
    with pytest.raises(OSError, match="remove it first"):
        open_own(path, flags)
    assert victim.read_bytes() == b"precious"


def test_a_link_to_nothing_makes_nothing(tmp_path: Path) -> None:
    (tmp_path / "own").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="is a link"):
        open_own(tmp_path / "own", APPEND)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("flags", [APPEND, os.O_RDONLY])
def test_a_pipe_is_not_waited_for(tmp_path: Path, flags: int) -> None:
    os.mkfifo(tmp_path / "own")
    with pytest.raises(OSError, match="is not a regular file"):
        open_own(tmp_path / "own", flags)


def test_files_and_folders_of_other_users_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").write_bytes(b"theirs")
    (tmp_path / "folder").mkdir()
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(OSError, match="belongs to another user"):
        open_own(tmp_path / "own", APPEND)
    with pytest.raises(OSError, match="belongs to another user"):
        own_folder(tmp_path / "folder")
    assert (tmp_path / "own").read_bytes() == b"theirs"


def test_a_file_that_is_ours_is_gone_on_with(tmp_path: Path) -> None:
    for text in (b"one", b"two"):
        descriptor = open_own(tmp_path / "own", APPEND)
        os.write(descriptor, text)
        os.close(descriptor)
    assert (tmp_path / "own").read_bytes() == b"onetwo"
    os.close(open_own(tmp_path / "own", os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
    assert (tmp_path / "own").read_bytes() == b""


@pytest.mark.parametrize("plant", [os.symlink, os.link])
def test_a_new_file_takes_the_place_of_a_link(victim: Path, plant: object) -> None:
    path = victim.with_name("own")
    plant(victim, path)  # type: ignore[operator]
    descriptor = create_own(path)
    os.write(descriptor, b"ours")
    os.close(descriptor)
    assert (path.read_bytes(), victim.read_bytes()) == (b"ours", b"precious")


def test_folders_that_are_links_are_not_filled(victim: Path) -> None:
    home = victim.with_name("home")
    home.mkdir()
    victim.rename(home / "victim")
    for make in (own_folder, fresh_folder):
        link = home.with_name("own")
        link.symlink_to(home)
        if make is own_folder:
            with pytest.raises(OSError, match="is not a folder"):
                own_folder(link)
            remove(link)
        else:
            fresh_folder(link)
            assert not link.is_symlink()
    assert (home / "victim").read_bytes() == b"precious"
