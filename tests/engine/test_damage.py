"""What a damaged source has lost is told wherever its values are read: one mechanism for all formats."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from refbrowser.engine.damage import damage_of
from refbrowser.errors import ErrorKind, Finding, Place, Severity


def note(message: str, path: str | None, severity: Severity = Severity.FAULT, **facts: Any) -> Finding:
    return Finding(severity=severity, kind=ErrorKind.FORMAT, message=message, place=Place(path=path), **facts)


def test_faults_and_losses_that_concern_a_path_are_damage() -> None:
    notes = (
        note("anywhere", None),
        note("a", "/g/a"),
        note("of a member", "/g/a/field"),
        note("of a group", "/g"),
        note("alike", "/g/ab"),
        note("only a warning", "/g/a", Severity.WARNING),
        note("cut", None, Severity.WARNING, is_loss=True),
    )
    dataset = cast(Any, SimpleNamespace(document=SimpleNamespace(notes=notes)))

    def told(*paths: str) -> list[str]:
        return [each.message for each in damage_of(dataset, paths or None)]

    assert told() == ["anywhere", "a", "of a member", "of a group", "alike", "cut"]
    assert told("/g/a") == ["anywhere", "a", "of a member", "of a group", "cut"]
    assert told("/g/ab", "/other") == ["anywhere", "of a group", "alike", "cut"]
    assert told("/other") == ["anywhere", "cut"]
    assert told("/") == told()
