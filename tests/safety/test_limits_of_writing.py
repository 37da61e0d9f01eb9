"""A whole expansion is written out in bounded memory, or refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from refbrowser.cli import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.references.content import version0
from refbrowser.references.document.document import ReferenceDocument

Limits = Callable[..., None]
#: Arithmetic cannot tell that its keys differ.
OPAQUE = {"key": "a/{{ ('%x' % j)|replace('a', 'g') }}", "url": "u"}
SEPARATED = {"key": "a/{{ i }}.{{ j }}", "url": "u"}


def document(*rules: dict[str, Any], rows: int) -> ReferenceDocument:
    sides = {"i": {"stop": 1}, "j": {"stop": rows // len(rules)}}
    gen = [rule | {"dimensions": sides} for rule in rules]
    return ReferenceDocument.of(json.dumps({"version": 1, "refs": {"x": "y"}, "gen": gen}).encode())


@pytest.mark.slow
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_keys_that_may_repeat(limits: Limits, more: int) -> None:
    limits(write_out_compared=5000)
    found = document(OPAQUE, rows=5000 + more).expansion
    if more > 0:
        with pytest.raises(RefbrowserError) as caught:
            found.to_version0()
        assert caught.value.kind is ErrorKind.BUDGET
        assert caught.value.place.pointer == "/gen"
    else:
        assert len(json.loads(b"".join(found.to_version0()))) == 5001 + more


def test_rules_that_may_meet(limits: Limits) -> None:
    limits(write_out_compared=5000)
    apart = [SEPARATED, SEPARATED | {"key": "b/{{ i }}.{{ j }}"}]
    assert len(json.loads(b"".join(document(*apart, rows=6000).expansion.to_version0()))) == 6001
    with pytest.raises(RefbrowserError) as caught:
        document(SEPARATED, SEPARATED, rows=6000).expansion.to_version0()
    assert caught.value.kind is ErrorKind.BUDGET
    assert (
        len(json.loads(b"".join(document(SEPARATED, SEPARATED, rows=4000).expansion.to_version0()))) == 2001
    )


@pytest.mark.slow
def test_nothing_is_held_of_keys_that_are_proved_to_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    found = document(SEPARATED, rows=20_000).expansion
    monkeypatch.setattr(version0, "hash", lambda _: pytest.fail("keys are compared"), raising=False)
    assert b"".join(found.to_version0()).count(b"\n") == 20_003


@pytest.mark.slow
def test_items_are_written_as_they_come(
    tmp_path: Path, limits: Limits, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(document(SEPARATED, rows=3000).to_bytes())
    assert main(["expand", str(path), "--json"]) == 0
    at_once = json.loads(capsys.readouterr().out)
    limits(write_out_question=1000)
    assert main(["expand", str(path), "--json", "--yes"]) == 0
    assert json.loads(capsys.readouterr().out) == at_once
    assert main(["expand", str(path), "--json", "--yes", "--start", "7", "--count", "2000"]) == 0
    assert json.loads(capsys.readouterr().out)["items"] == at_once["items"][7:2007]
