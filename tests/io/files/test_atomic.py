"""Atomic writing: the old file or the new one, whole, whatever fails."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.files import atomic
from refbrowser.io.files.atomic import ChangedOnDiskError, write_atomically
from refbrowser.io.files.hidden_siblings import remove_leftovers
from refbrowser.io.identity import identity_on_disk


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "doc.json"
    path.write_bytes(b"old")
    return path


def names(path: Path) -> list[str]:
    return sorted(os.listdir(path.parent))


def test_a_write_protected_file_is_not_replaced(path: Path) -> None:
    link = path.with_name("link.json")
    link.symlink_to(path)
    path.chmod(0o444)
    for name in (path, link):
        with pytest.raises(RefbrowserError, match="write-protected") as caught:
            write_atomically(name, [b"new"])
        assert caught.value.kind is ErrorKind.IO
    assert path.read_bytes() == b"old"
    path.chmod(0o640)
    write_atomically(path, [b"new"])
    assert path.read_bytes() == b"new"


def test_a_write_protected_file_that_was_opened_is_saved(path: Path) -> None:
    path.chmod(0o444)
    opened = identity_on_disk(path)
    write_atomically(path, [b"new"], expected=opened)
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o444


def test_a_new_and_a_replaced_file(tmp_path: Path) -> None:
    path = tmp_path / "doc.json"
    first = write_atomically(path, [b"a", b"", memoryview(b"bc")])
    assert path.read_bytes() == b"abc"
    second = write_atomically(path, [b"d"], expected=first)
    assert path.read_bytes() == b"d"
    assert second == identity_on_disk(path)
    assert names(path) == ["doc.json"]


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
def test_permissions_are_kept(path: Path) -> None:
    path.chmod(0o640)
    write_atomically(path, [b"new"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
def test_a_new_file_follows_the_mask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_atomically(tmp_path / "new.json", [b"x"])
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "new.json").stat().st_mode) == 0o640


def test_a_link_is_followed(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere"
    link.mkdir()
    (link / "link.json").symlink_to(path)
    write_atomically(link / "link.json", [b"new"])
    assert (link / "link.json").is_symlink()
    assert path.read_bytes() == b"new"
    assert os.listdir(link) == ["link.json"]


def test_a_file_changed_by_others_is_not_replaced(path: Path) -> None:
    opened = identity_on_disk(path)
    path.write_bytes(b"theirs, longer")
    with pytest.raises(ChangedOnDiskError):
        write_atomically(path, [b"new"], expected=opened)
    assert path.read_bytes() == b"theirs, longer"
    path.unlink()
    with pytest.raises(ChangedOnDiskError):
        write_atomically(path, [b"new"], expected=opened)
    assert not path.exists()


def test_a_file_changed_while_writing_is_not_replaced(path: Path) -> None:
    opened = identity_on_disk(path)

    def blocks() -> Iterator[bytes]:
        yield b"new"
        path.write_bytes(b"theirs, meanwhile")

    with pytest.raises(ChangedOnDiskError):
        write_atomically(path, blocks(), expected=opened)
    assert path.read_bytes() == b"theirs, meanwhile"
    assert names(path) == ["doc.json"]


@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace", "fchmod"])
def test_a_failure_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    def fail(*arguments: object, **named: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, call, fail)
    with pytest.raises(RefbrowserError, match="No space left") as caught:
        write_atomically(path, [b"new"])
    monkeypatch.undo()
    assert caught.value.kind == ErrorKind.IO
    assert path.read_bytes() == b"old"
    assert names(path) == ["doc.json"]


def test_an_exception_of_the_source_leaves_the_old_file(path: Path) -> None:
    def blocks() -> Iterator[bytes]:
        yield b"new"
        raise KeyError("broken")

    with pytest.raises(KeyError):
        write_atomically(path, blocks())
    assert path.read_bytes() == b"old"
    assert names(path) == ["doc.json"]


def test_cancelling_leaves_the_old_file(path: Path) -> None:
    token = CancelToken()

    def blocks() -> Iterator[bytes]:
        yield b"new"
        token.cancel()
        yield b"more"

    with pytest.raises(Cancelled):
        write_atomically(path, blocks(), cancel=token)
    assert path.read_bytes() == b"old"


def test_partial_writes_are_continued(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(atomic.os, "write", lambda descriptor, data: write(descriptor, data[:3]))
    write_atomically(path, [b"0123456789"])
    assert path.read_bytes() == b"0123456789"


def test_only_regular_files_are_replaced(tmp_path: Path) -> None:
    with pytest.raises(RefbrowserError, match="regular"):
        write_atomically(tmp_path, [b"x"])


def test_leftovers_of_dead_processes_are_removed(path: Path) -> None:
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    left = path.parent / f".doc.json.refbrowser-{int(gone.stdout)}-0011aabb"
    alive = path.parent / f".doc.json.refbrowser-{os.getppid()}-0011aabb"
    other = path.parent / f".other.json.refbrowser-{int(gone.stdout)}-0011aabb"
    for file in (left, alive, other):
        file.write_bytes(b"half")
    assert remove_leftovers(path) == [left.name]
    assert not left.exists()
    assert alive.exists()
    assert other.exists()
