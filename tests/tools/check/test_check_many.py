"""``refbrowser.check_many``: each document with what was found, in their order."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import refbrowser


@pytest.fixture
def documents(tmp_path: Path) -> list[Path]:
    """A sound document, none, and a faulty one."""
    texts = {"sound.json": '{".zgroup": "{\\"zarr_format\\": 2}"}', "faulty.json": '{"a/.zarray": "{"}'}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in ("sound.json", "none.json", "faulty.json")]


@pytest.mark.parametrize("by_others", [False, True])
def test_one_that_cannot_be_opened_ends_no_other_check(documents: list[Path], by_others: bool) -> None:
    told: list[Any] = []
    with ThreadPoolExecutor(2) as pool:
        client = pool if by_others else None
        found = list(
            refbrowser.check_many(documents, client=client, progress=lambda *said, **_: told.append(said))
        )
    assert [checked.path for checked in found] == [str(path) for path in documents]
    sound, none, faulty = found
    assert (sound.findings, sound.error) == ((), None)
    assert none.error is not None
    assert none.error.kind == "E_IO"
    assert len(faulty.faults) == 1
    assert list(faulty.findings) == refbrowser.check(documents[2])
    assert repr(faulty).splitlines()[0].endswith("faulty.json: 1 fault, 0 warnings")
    assert ((3, 3) in told) == by_others


def test_stages_are_told(documents: list[Path]) -> None:
    from refbrowser.engine.jobs import JobControl

    stages: list[Any] = []
    control = JobControl(publish=lambda changes: stages.append(changes.get("note")))
    refbrowser.check(documents[0], progress=control)
    assert [note for note in stages if note in ("opening", "listing", "checking")] == ["opening", "checking"]


def test_what_ends_early_waits_for_its_turn(documents: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    from refbrowser.tools.check import checked_documents

    look, others = checked_documents._checked, threading.Event()

    def late(request: Any, control: Any) -> Any:
        if request.path == str(documents[0]):
            assert others.wait(10)
        else:
            others.set()
        return look(request, control)

    monkeypatch.setattr(checked_documents, "_checked", late)
    with ThreadPoolExecutor(2) as pool:
        found = refbrowser.check_many(documents, client=pool)
        assert [checked.path for checked in found] == [str(path) for path in documents]
