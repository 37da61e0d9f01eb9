"""What was made gets its final name: there is the old one or the new one under it, whatever fails."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from refbrowser.io.files import final_names
from refbrowser.io.files.final_names import give_name, recover
from refbrowser.io.files.hidden_siblings import folder_beside, remove_leftovers_of, sibling_of

KINDS = ["file", "folder"]


def put(path: Path, kind: str, text: str) -> Path:
    if kind == "folder":
        path.mkdir()
        (path / "a").write_text(text)
    else:
        path.write_text(text)
    return path


def content(path: Path) -> str | None:
    if not os.path.lexists(path):
        return None
    return (path / "a").read_text() if path.is_dir() else path.read_text()


@pytest.fixture(params=["exchanged", "in two steps"])
def how(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "in two steps":
        monkeypatch.setattr(final_names, "_exchange", lambda: lambda one, other: errno.EINVAL)
    elif final_names._exchange() is None:
        pytest.skip("this system does not exchange names")
    return str(request.param)


@pytest.mark.parametrize("made", KINDS)
@pytest.mark.parametrize("target", [*KINDS, "nothing"])
def test_anything_takes_the_place_of_anything(tmp_path: Path, how: str, made: str, target: str) -> None:
    final = tmp_path / "out"
    if target != "nothing":
        put(final, target, "old")
    give_name(put(tmp_path / "made", made, "new"), final)
    assert content(final) == "new"
    assert os.listdir(tmp_path) == ["out"]


class Killed(BaseException):
    """Stands for the end of the process: nothing can be done after it."""


def ending(monkeypatch: pytest.MonkeyPatch, last: int, error: Callable[[], BaseException]) -> None:
    """Have the `last` call that changes names raise; where that is the end of the process, all after it."""
    count = 0

    def counting(call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **named: Any) -> Any:
            nonlocal count
            count += 1
            raised = error()
            if count == last or (count > last and isinstance(raised, Killed)):
                raise raised
            return call(*given, **named)

        return counted

    for name in ("rename", "replace", "unlink", "rmdir", "fsync"):
        monkeypatch.setattr(os, name, counting(getattr(os, name)))
    exchange = final_names._exchange()
    monkeypatch.setattr(final_names, "_exchange", lambda: None if exchange is None else counting(exchange))


@pytest.mark.parametrize("last", range(1, 7))
@pytest.mark.parametrize("made", KINDS)
def test_killed_at_any_moment_the_next_one_finds_the_old_or_the_new(
    tmp_path: Path, how: str, made: str, last: int
) -> None:
    final = put(tmp_path / "out", "folder", "old")
    new = put(tmp_path / "made", made, "new")
    with pytest.MonkeyPatch.context() as patch:
        ending(patch, last, Killed)
        # Processes that have ended have other numbers.
        patch.setattr(os, "getpid", lambda: 4194305)
        with contextlib.suppress(Killed):
            give_name(new, final)
    if how == "exchanged":
        assert content(final) in ("old", "new")
    recover(final)
    assert content(final) in ("old", "new")
    give_name(put(tmp_path / "again", made, "third"), final)
    assert content(final) == "third"
    assert {*os.listdir(tmp_path)} <= {"out", "made"}


@pytest.mark.parametrize("last", range(1, 6))
def test_what_cannot_be_replaced_keeps_its_name(tmp_path: Path, how: str, last: int) -> None:
    final = put(tmp_path / "out", "folder", "old")
    new = put(tmp_path / "made", "folder", "new")
    failed = False
    with pytest.MonkeyPatch.context() as patch:
        ending(patch, last, lambda: OSError(errno.EIO, "no"))
        try:
            give_name(new, final)
        except OSError:
            failed = True
    assert content(final) == ("old" if failed else "new")
    if failed:
        assert content(new) == "new"


def test_an_exchange_that_fails_is_no_reason_for_two_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(final_names, "_exchange", lambda: lambda one, other: errno.EIO)
    final = put(tmp_path / "out", "folder", "old")
    with pytest.raises(OSError, match="Input/output error"):
        give_name(put(tmp_path / "made", "folder", "new"), final)
    assert content(final) == "old"
    assert content(tmp_path / "made") == "new"


def test_what_killed_processes_left_is_removed_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = Path(sibling_of(tmp_path / "out"))
    ours.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: 4194305)
        left = [
            put(Path(sibling_of(tmp_path / name)), kind, "") for name in ("out", "other") for kind in KINDS
        ]
    assert {*remove_leftovers_of(str(tmp_path), ["out"])} == {path.name for path in left[:2]}
    assert {*os.listdir(tmp_path)} == {ours.name, *(path.name for path in left[2:])}
    with folder_beside(tmp_path / "other") as folder:
        assert {*os.listdir(tmp_path)} == {ours.name, folder.name}
    assert os.listdir(tmp_path) == [ours.name]


def test_long_names_have_hidden_ones_too(tmp_path: Path, how: str) -> None:
    final = put(tmp_path / ("ä" * 120), "folder", "old")
    give_name(put(tmp_path / "made", "folder", "new"), final)
    assert content(final) == "new"
