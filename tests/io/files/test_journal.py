"""Journals on disk: whole lines come back, torn ones do not, those of running programs are left alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import RefbrowserError
from refbrowser.io.files import journal
from refbrowser.io.files.journal import JournalFile, abandoned_journals, journal_folder, read_journal
from refbrowser.io.processes import is_running, start_mark

VALUES = st.lists(
    st.dictionaries(st.text(max_size=3), st.text() | st.integers() | st.none(), max_size=3), max_size=5
)


def ended_process() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def leave(document: str, values: list[Any], age: float = 0.0) -> Path:
    """Write a journal as a process does that is gone now."""
    file = JournalFile(document)
    file.append(values)
    stem = file.path.name.partition("-")[0]
    path = file.path.rename(file.path.with_name(f"{stem}-{ended_process()}--0000000{len(values) % 10}.jsonl"))
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime - age))
    return path


@pytest.mark.slow
@given(VALUES, VALUES)
def test_what_is_appended_is_read(first: list[Any], second: list[Any]) -> None:
    file = JournalFile("document.json")
    file.append(first)
    file.append(second)
    content = read_journal(file.path)
    assert content.values == first + second
    assert not content.is_damaged
    file.remove()
    assert not file.path.exists()


@given(VALUES, st.data())
def test_a_torn_end_is_ignored(values: list[Any], data: st.DataObject) -> None:
    file = JournalFile("document.json")
    file.append(values)
    whole = file.path.read_bytes()
    kept = data.draw(st.integers(0, len(whole)))
    file.path.write_bytes(whole[:kept])
    content = read_journal(file.path)
    assert content.values == values[: whole[:kept].count(b"\n")]
    assert not content.is_damaged
    file.remove()


@pytest.mark.parametrize("at", [0, 8, 9, 14])
def test_nothing_counts_after_a_damaged_line(at: int) -> None:
    file = JournalFile("document.json")
    file.append([{"a": 1}, {"b": 2}, {"c": 3}])
    lines = file.path.read_bytes().split(b"\n")
    lines[1] = lines[1][:at] + b"#" + lines[1][at + 1 :]
    file.path.write_bytes(b"\n".join(lines))
    content = read_journal(file.path)
    assert content.values == [{"a": 1}]
    assert content.is_damaged


def test_journals_of_running_processes_are_not_abandoned(tmp_path: Path) -> None:
    document = str(tmp_path / "a.json")
    mine = JournalFile(document)
    mine.append([1])
    old, new = leave(document, [1, 2], age=50), leave(document, [1, 2, 3])
    leave(str(tmp_path / "other.json"), [1])
    assert abandoned_journals(document) == [new, old]
    link = tmp_path / "link.json"
    link.symlink_to(document)
    assert abandoned_journals(str(link)) == [new, old]


def test_a_process_of_the_same_number_is_not_the_same() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        mark = start_mark(other.pid)
        assert is_running(other.pid, mark)
        if mark:
            assert not is_running(other.pid, f"{mark}0")
        other.communicate(b"\n")
    assert not is_running(other.pid, mark)


def test_names_tell_nothing_of_the_document_and_others_cannot_read_it(tmp_path: Path) -> None:
    file = JournalFile("https://user.org/a.json?token=secret")
    file.append([1])
    assert "secret" not in file.path.name
    assert b"secret" not in file.path.read_bytes()
    if os.name == "posix":
        assert file.path.stat().st_mode & 0o077 == 0
        assert journal_folder().stat().st_mode & 0o077 == 0


def test_a_journal_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    file = JournalFile("document.json")
    file.append(["x" * 50])
    size = file.path.stat().st_size
    monkeypatch.setattr(journal, "LIMITS", type("Limits", (), {"journal_size": 2 * size - 1}))
    with pytest.raises(RefbrowserError) as told:
        file.append(["x" * 50])
    assert told.value.kind == "E_BUDGET"
    assert read_journal(file.path).values == ["x" * 50]
    monkeypatch.setattr(journal, "LIMITS", type("Limits", (), {"journal_size": 2 * size}))
    file.append(["x" * 50])


def test_the_oldest_abandoned_journals_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "KEPT", 2)
    old, new = leave("a", [1], age=100), leave("b", [1, 2], age=50)
    mine = JournalFile("c")
    mine.append([1])
    leave("d", [1, 2, 3])
    JournalFile("e").append([1])
    assert not old.exists()
    assert mine.path.exists()
    assert not new.exists()
