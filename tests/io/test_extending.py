"""A file that is extended in place is what it was, or the new one, at every moment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.files import atomic
from refbrowser.io.files.atomic import ChangedOnDiskError, extend_file
from refbrowser.io.identity import identity_on_disk

MARK = b"THE.END."
OLD = b"what was there before"
NEW = [b"abc", b"defgh", memoryview(b"ijklmnop" * 1000), b""]
WANTED = OLD + b"".join(map(bytes, NEW)) + MARK


def made(folder: Path, content: bytes = OLD + MARK) -> str:
    path = folder / "file.bin"
    path.write_bytes(content)
    return str(path)


def extended(path: str, blocks=NEW, **options: object) -> None:
    identity = identity_on_disk(path)
    assert identity is not None
    found = extend_file(path, len(OLD), MARK, blocks, expected=identity, **options)
    assert found == identity_on_disk(path)


@pytest.mark.parametrize("tail", [MARK, b"", MARK + b"left behind by others"])
def test_blocks_take_the_place_of_the_mark(tmp_path: Path, tail: bytes) -> None:
    path = made(tmp_path, OLD + tail)
    extended(path)
    assert Path(path).read_bytes() == WANTED


def test_the_check_sees_everything_but_the_first_bytes(tmp_path: Path) -> None:
    path = made(tmp_path)
    seen = []

    def check(first: bytes, stop: int) -> None:
        content = Path(path).read_bytes()
        seen.append((content[: len(OLD)] + first + content[len(OLD) + len(MARK) :], stop))
        assert content.startswith(OLD + MARK)

    extended(path, check=check)
    assert seen == [(WANTED, len(WANTED))]


@pytest.mark.parametrize("tail", [MARK, b""])
def test_a_refusal_of_the_check_leaves_the_file_as_it_was(tmp_path: Path, tail: bytes) -> None:
    path = made(tmp_path, OLD + tail)

    def check(first: bytes, stop: int) -> None:
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        extended(path, check=check)
    assert Path(path).read_bytes() == OLD + tail


def test_a_cancelled_extension_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path, token = made(tmp_path), CancelToken()

    def blocks():
        yield NEW[2]
        token.cancel()
        yield NEW[2]

    with pytest.raises(Cancelled):
        extended(path, blocks(), cancel=token)
    assert Path(path).read_bytes() == OLD + MARK


def test_blocks_shorter_than_the_mark_are_refused(tmp_path: Path) -> None:
    path = made(tmp_path)
    with pytest.raises(ValueError, match="shorter than the mark"):
        extended(path, [b"abc"])
    assert Path(path).read_bytes() == OLD + MARK


def test_a_file_that_others_changed_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path)
    identity = identity_on_disk(path)
    assert identity is not None
    Path(path).write_bytes(OLD + b"more" + MARK)
    with pytest.raises(ChangedOnDiskError):
        extend_file(path, len(OLD), MARK, NEW, expected=identity)
    assert Path(path).read_bytes() == OLD + b"more" + MARK


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    path = made(tmp_path)

    def check(first: bytes, stop: int) -> None:
        with pytest.raises(ChangedOnDiskError, match="another process"):
            extended(path)

    extended(path, check=check)
    assert Path(path).read_bytes() == WANTED


@pytest.mark.parametrize("tail", [MARK, b""])
def test_a_crash_at_any_write_leaves_the_old_bytes_with_something_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tail: bytes
) -> None:
    """The process is gone at its n-th write, part of which reached the disk: nothing can be tidied up."""
    write, count = atomic._write_at, 0
    monkeypatch.setattr(atomic, "_restore", lambda *arguments: None)
    last = False
    for number in range(1, 100):
        path = made(tmp_path, OLD + tail)
        count = 0

        def dies(descriptor: int, data: memoryview, offset: int, *, number: int = number) -> int:
            nonlocal count
            count += 1
            if count == number:
                write(descriptor, data[: len(data) // 2], offset)
                raise KeyboardInterrupt
            return write(descriptor, data, offset)

        monkeypatch.setattr(atomic, "_write_at", dies)
        try:
            extended(path)
        except KeyboardInterrupt:
            content = Path(path).read_bytes()
            assert content.startswith(OLD)
            # What replaces the mark is the last write of all.
            last = content[len(OLD) :].startswith(NEW[0])
            assert last or content[len(OLD) :].startswith(MARK) or len(content) < len(OLD + MARK)
            continue
        assert number > 4
        assert last
        assert Path(path).read_bytes() == WANTED
        return
    pytest.fail("it never came to its end")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    identity = identity_on_disk(tmp_path)
    assert identity is not None
    with pytest.raises(RefbrowserError):
        extend_file(os.fspath(tmp_path), 0, MARK, NEW, expected=identity)
