"""The journal of a document: written soon, gone when all is saved, found again when the process is lost."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from refbrowser.engine import journal as engine_journal
from refbrowser.engine.journal import JournalWriter, find_recoveries, lost_documents, state_hash
from refbrowser.io.cancel import CancelToken
from refbrowser.io.files.journal import journal_folder, read_journal
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.document.history import History
from refbrowser.references.edits.edits import SetReference, SetTemplate
from refbrowser.references.edits.outer_edits import RemoveTemplate

DATA = json.dumps({"version": 1, "templates": {"t": "s3://b"}, "refs": {"a/0": ["{{t}}/x", 0, 9]}}).encode()
NAME = "document.json"


class Kept:
    """A document whose history a writer follows."""

    def __init__(self, data: bytes = DATA) -> None:
        self.history = History(ReferenceDocument.of(data))
        self.failures: list[BaseException] = []
        self.writer = JournalWriter(self.failures.append)
        self.follow()

    def follow(self) -> None:
        self.writer.follow(NAME, self.history)

    def edit(self, number: int) -> None:
        self.history.apply(SetReference(f"new/{number}", "text"))
        self.follow()


@pytest.fixture
def kept() -> Iterator[Kept]:
    made = Kept()
    yield made
    made.writer.close()


def files() -> list[Path]:
    folder = journal_folder()
    return sorted(folder.iterdir()) if folder.exists() else []


def values() -> list[Any]:
    found = []
    for path in files():
        # One that has grown is written anew under another name while it is looked for.
        with contextlib.suppress(FileNotFoundError):
            found += read_journal(path).values
    return found


def wait_until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "that did not come"
        time.sleep(0.01)


def abandon() -> None:
    """Make the journals those of a process that is gone."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    for path in files():
        stem, _process, _mark, rest = path.name.split("-")
        path.rename(path.with_name(f"{stem}-{process.pid}--{rest}"))


def recoveries(data: bytes = DATA) -> tuple[engine_journal.Recovery, ...]:
    return find_recoveries(NAME, ReferenceDocument.of(data), CancelToken())


def test_opening_alone_writes_nothing(kept: Kept) -> None:
    kept.writer.flush()
    time.sleep(0.05)
    assert not files()
    assert kept.writer._thread is None


def test_edits_are_written_in_time(kept: Kept) -> None:
    begin = time.monotonic()
    kept.edit(0)
    wait_until(lambda: len(values()) == 2)
    assert time.monotonic() - begin < engine_journal.WITHIN + 1
    assert values()[0]["state"] == state_hash(kept.history.saved)


def test_many_edits_are_written_at_once(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_journal, "WITHIN", 3600.0)
    for number in range(engine_journal.AT_ONCE - 1):
        kept.edit(number)
    time.sleep(0.1)
    assert not files()
    kept.edit(99)
    wait_until(lambda: len(values()) == engine_journal.AT_ONCE + 1)


def test_flush_does_not_wait_for_more(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_journal, "WITHIN", 3600.0)
    kept.edit(0)
    kept.writer.flush()
    wait_until(lambda: len(values()) == 2)


def test_undo_redo_and_revert_are_kept_too(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_journal, "WITHIN", 0.05)
    kept.edit(0)
    kept.edit(1)
    for step in (kept.history.undo, kept.history.redo, kept.history.undo):
        step()
        kept.follow()
    wait_until(lambda: [value.get("op") for value in values()[1:]] == ["do", "do", "undo", "redo", "undo"])


def test_it_is_removed_when_nothing_is_unsaved_and_comes_back_whole(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_journal, "WITHIN", 0.01)
    kept.edit(0)
    wait_until(lambda: len(values()) == 2)
    kept.history.undo()
    kept.follow()
    wait_until(lambda: not files())
    kept.history.redo()
    kept.follow()
    wait_until(lambda: [value.get("op") for value in values()] == [None, "do", "undo", "redo"])


def test_after_a_save_it_begins_at_the_saved_state(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_journal, "WITHIN", 0.01)
    kept.edit(0)
    wait_until(lambda: len(values()) == 2)
    kept.history.mark_saved()
    kept.follow()
    wait_until(lambda: not files())
    kept.edit(1)
    wait_until(lambda: len(values()) == 2)
    assert values()[0]["state"] == state_hash(kept.history.saved)
    saved = kept.history.saved.to_bytes()
    for _ in range(2):
        kept.history.undo()
        kept.follow()
    wait_until(lambda: len(values()) == 4)
    abandon()
    assert recoveries()[0].history is None
    (found,) = recoveries(saved)
    assert found.history is not None
    assert found.history.document.to_bytes() == DATA


def test_closing_removes_it(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_journal, "WITHIN", 0.01)
    kept.edit(0)
    wait_until(lambda: len(values()) == 2)
    kept.writer.close()
    assert not files()


def test_template_values_are_not_written(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_journal, "WITHIN", 0.01)
    kept.history.set_template_values({"t": "https://secret.org"})
    kept.follow()
    kept.edit(0)
    kept.history.set_template_values({"t": "https://secret.org/again"})
    kept.follow()
    kept.edit(1)
    wait_until(lambda: len(values()) == 3)
    assert all("secret" not in path.read_text() for path in files())
    abandon()
    (found,) = recoveries()
    assert found.history is not None
    assert found.history.document.to_bytes() == kept.history.document.to_bytes()


def test_a_journal_that_cannot_be_written_is_told_once_and_tried_after_a_save(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_journal, "WITHIN", 0.01)
    folder = journal_folder()
    folder.parent.mkdir(parents=True)
    folder.write_text("not a folder")
    kept.edit(0)
    wait_until(lambda: bool(kept.failures))
    kept.edit(1)
    time.sleep(0.1)
    assert len(kept.failures) == 1
    folder.unlink()
    kept.history.mark_saved()
    kept.follow()
    kept.edit(2)
    wait_until(lambda: len(values()) == 2)


def test_edits_of_a_lost_process_are_found(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_journal, "WITHIN", 0.01)
    kept.edit(0)
    kept.history.apply(SetTemplate("t", "s3://c"))
    kept.follow()
    kept.edit(1)
    kept.history.undo()
    kept.follow()
    wait_until(lambda: len(values()) == 5)
    assert recoveries() == ()
    abandon()
    (found,) = recoveries()
    assert found.titles == ["Change new/0", "Change template t"]
    assert found.history is not None
    assert found.error is None
    assert found.history.document.to_bytes() == kept.history.document.to_bytes()
    assert found.history.can_redo
    assert abs(found.when - time.time()) < 60


def test_edits_of_another_state_are_offered_where_all_fit_it(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_journal, "WITHIN", 0.01)
    kept.edit(0)
    kept.history.apply(RemoveTemplate("t"))
    kept.follow()
    wait_until(lambda: len(values()) == 3)
    abandon()
    changed = DATA.replace(b"s3://b", b"s3://c")
    for data, is_moved in ((DATA, False), (changed, True)):
        (found,) = recoveries(data)
        assert found.is_moved == is_moved
        assert found.error is None
        made = ReferenceDocument.of(data).apply(SetReference("new/0", "text")).apply(RemoveTemplate("t"))
        assert found.history is not None
        assert found.history.saved.to_bytes() == data
        assert found.history.document.to_bytes() == made.to_bytes()
    # What does not fit all of them is told of them, and none is made.
    (found,) = recoveries(DATA.replace(b'"t"', b'"u"'))
    assert found.is_moved
    assert found.history is None
    assert found.error is not None
    assert found.titles == ["Change new/0", "Remove template t"]


def test_what_is_damaged_is_found_up_to_there(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_journal, "WITHIN", 0.01)
    for number in range(3):
        kept.edit(number)
    wait_until(lambda: len(values()) == 4)
    abandon()
    (path,) = files()
    path.write_bytes(path.read_bytes().replace(b"new/1", b"new/X"))
    (found,) = recoveries()
    assert found.error is not None
    assert found.titles == ["Change new/0"]


def test_a_journal_without_edits_is_removed(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_journal, "WITHIN", 0.01)
    kept.edit(0)
    wait_until(lambda: len(values()) == 2)
    abandon()
    (path,) = files()
    path.write_bytes(path.read_bytes()[:40])
    assert recoveries() == ()
    assert not files()


def test_a_restored_journal_is_replaced_only_when_its_edits_are_kept(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.edit(0)
    kept.writer.flush()
    wait_until(lambda: len(values()) == 2)
    abandon()
    (path,) = files()
    (found,) = recoveries()
    assert found.history is not None
    other = JournalWriter(kept.failures.append)
    other.follow(NAME, found.history, replaces=path)
    wait_until(lambda: not path.exists())
    assert [value.get("op") for value in values()] == [None, "do"]
    other.close()


def test_the_thread_sleeps_when_what_was_edited_was_undone_at_once(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_journal, "WITHIN", 0.05)
    kept.edit(0)
    kept.history.undo()
    kept.follow()
    looks = []
    is_due = JournalWriter._is_due
    monkeypatch.setattr(JournalWriter, "_is_due", lambda self: looks.append(1) or is_due(self))
    time.sleep(0.3)
    assert len(looks) <= 5
    assert not files()


def test_a_journal_stays_until_what_replaces_it_is_written(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_journal, "WITHIN", 0.01)
    kept.edit(0)
    wait_until(lambda: len(values()) == 2)
    abandon()
    (path,) = files()
    (found,) = recoveries()
    assert found.history is not None
    failures: list[BaseException] = []
    other = JournalWriter(failures.append)
    with monkeypatch.context() as broken:
        broken.setattr(engine_journal.JournalFile, "append", lambda *_: 1 / 0)
        other.follow(NAME, found.history, replaces=path)
        wait_until(lambda: bool(failures))
        found.history.apply(SetReference("new/1", "text"))
        other.follow(NAME, found.history)
        runs = other._is_due
        asked: list[bool] = []
        broken.setattr(other, "_is_due", lambda: asked.append(runs()) or asked[-1])
        other.flush()
        wait_until(lambda: bool(asked))
        time.sleep(0.05)
        # It is all that there is of these edits; and nobody is busy with it.
        assert path.exists()
        assert len(asked) < 10
    found.history.mark_saved()
    other.follow(NAME, found.history)
    wait_until(lambda: not path.exists())
    other.close()


class Typed:
    """Something typed."""

    def __init__(self, text: str) -> None:
        self.text = text

    def to_json(self) -> dict[str, Any]:
        return {"text": self.text}


@pytest.mark.slow
def test_what_is_typed_is_kept_while_it_is_and_offered_by_name(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(engine_journal, "WITHIN", 0.02)
    monkeypatch.setattr(engine_journal, "TYPED_SIZE", 400)
    kept.follow()
    for number in range(40):
        kept.writer.type([Typed(f"{'x' * 50}{number}")])
        wait_until(lambda number=number: bool(values()) and str(number) in str(values()[-1]))
    # Each line stands for those before it: they are not kept for ever.
    assert sum(path.stat().st_size for path in files()) < 2_000
    kept.writer.type([])
    wait_until(lambda: not files())
    kept.edit(0)
    kept.writer.type([Typed("half")])
    wait_until(lambda: bool(values()) and "half" in str(values()[-1]))
    kept.history.undo()
    kept.follow()
    wait_until(lambda: [value.get("op") for value in values()[1:]] == ["do", "typed", "undo", "typed"])
    abandon()
    (recovery,) = recoveries()
    assert recovery.typed == ({"text": "half"},)
    assert recovery.history is not None
    assert not recovery.history.is_dirty
    # By name, as long as it is there.
    assert lost_documents() == ()
    (tmp_path / "there.json").write_bytes(DATA)
    other = Kept()
    other.writer.follow(str(tmp_path / "there.json"), other.history)
    other.writer.type([Typed("x")])
    wait_until(lambda: len(files()) == 2)
    wait_until(lambda: "there.json" in str(values()))
    abandon()
    assert [lost.document for lost in lost_documents()] == [str(tmp_path / "there.json")]
    other.writer.close()


def test_a_store_is_known_again_whatever_text_is_made_of_it(tmp_path: Path) -> None:
    import zarr

    import refbrowser
    from refbrowser.exporting.saving.save import save_into_store
    from refbrowser.references.edits.edits import SetMetadata

    zarr.create_group(tmp_path / "s.zarr", zarr_format=2).create_array(
        "a", shape=(4,), chunks=(2,), dtype="i4"
    )
    zarr.consolidate_metadata(tmp_path / "s.zarr", zarr_format=2)
    with refbrowser.open(tmp_path / "s.zarr") as dataset:
        saved = dataset.document
    edited = saved.apply(SetMetadata("a/.zattrs", {"units": "K"}))
    assert state_hash(edited) != state_hash(saved)
    save_into_store(edited, saved)
    with refbrowser.open(tmp_path / "s.zarr") as dataset:
        assert dataset.document.to_bytes() != edited.to_bytes()
        assert state_hash(dataset.document) == state_hash(edited)
