"""Limits of documents at n - 1, n and n + 1, made small so that a test may reach them."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from refbrowser.cli import main
from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.formats.references import open_references
from refbrowser.references.document.document import ReferenceDocument

AROUND = (-1, 0, 1)
Limits = Callable[..., None]


def refused(open_it: Callable[[], Any], more: int) -> RefbrowserError | None:
    """Open what is `more` than a limit; return the error where it is too much, which it then has to be."""
    if more <= 0:
        open_it()
        return None
    with pytest.raises(RefbrowserError) as caught:
        open_it()
    assert caught.value.kind is ErrorKind.BUDGET
    return caught.value


def text(**members: Any) -> bytes:
    return json.dumps({"version": 1, **members}).encode()


@pytest.mark.parametrize("more", AROUND)
@pytest.mark.parametrize("packed", [False, True])
def test_size(tmp_path: Path, limits: Limits, packed: bool, more: int) -> None:
    data = text(refs={f"key{number}": ["url", number, 5] for number in range(2000)})
    limits(json_size=len(data) - more)
    path = tmp_path / "x.json"
    path.write_bytes(gzip.compress(data) if packed else data)
    refused(lambda: open_references(path), more)


def test_padding_of_a_packed_document_is_not_held(tmp_path: Path, limits: Limits) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(gzip.compress(text(refs={})) + b"\0" * 10_000_000)
    limits(json_size=9_000_000)
    refused(lambda: open_references(path), 1)
    limits(json_size=11_000_000)
    open_references(path)


@pytest.mark.parametrize("more", AROUND)
@pytest.mark.parametrize("shape", ["scanned", "exact"])
def test_number_of_references(limits: Limits, shape: str, more: int) -> None:
    limits(references=500)
    value = {"scanned": ["url", 1, 2], "exact": {"an": "object"}}[shape]
    data = text(refs={f"a/{number}": value for number in range(500 + more)})
    error = refused(lambda: open_references(data), more)
    assert error is None or error.place.line == 1


@pytest.mark.parametrize("more", AROUND)
@pytest.mark.parametrize("shape", ["text", "base64", "object"])
def test_size_of_an_inline_value(limits: Limits, shape: str, more: int) -> None:
    limits(inline_value=300)
    size = 300 + more
    values: dict[str, Any] = {
        "text": "x" * size,
        "base64": "base64:" + base64.b64encode(b"x" * size).decode(),
        "object": {"a": "x" * (size - len('{"a": ""}'))},
    }
    document = ReferenceDocument.of(text(refs={"good": "y", "a": values[shape]}))
    kinds = [finding.kind for finding in document.findings if finding.severity is Severity.FAULT]
    assert kinds == [ErrorKind.BUDGET] * max(more, 0)
    refused(lambda: document.expansion.value("a"), more)
    assert document.expansion.value("good") == b"y"


@pytest.mark.parametrize("more", AROUND)
@pytest.mark.parametrize("where", ["refs", "gen", "templates", "other"])
def test_values_of_one_entry(limits: Limits, where: str, more: int) -> None:
    limits(json_values=200)
    numbers = list(range(200 + more - 1))
    members: dict[str, Any] = {
        "refs": {"refs": {"before": "x", "a/b": {"n": numbers[:-1]}}},
        "gen": {"gen": numbers, "refs": {}},
        "templates": {"templates": {"f": numbers[:-1]}, "refs": {}},
        "other": {"refs": {}, "other": numbers},
    }
    pointer = {"refs": "/refs/a~1b"}.get(where, f"/{where}")
    # Beside it stands what is around it.
    limits(json_values=200 if where == "refs" or more > 0 else 210)
    error = refused(lambda: open_references(text(**members[where])), more)
    assert error is None or (error.place.pointer == pointer and error.place.line == 1)


@pytest.mark.parametrize("more", AROUND)
def test_values_beside_refs(limits: Limits, more: int) -> None:
    limits(json_values=5000)
    # The members themselves, version and refs, and the values in them.
    data = text(refs={f"a{i}": "x" for i in range(6000)}, **{f"m{i}": [i] for i in range(1600)})
    filler = 5000 - 3 * 1600 - 4 + more
    refused(lambda: open_references(data[:-1] + b',"n":[%s]}' % b",".join([b"1"] * (filler - 1))), more)
    version_0 = json.dumps({f"a{i}": "x" for i in range(6000)}).encode()
    assert open_references(version_0).version == 0


RULE = {"key": "k{{ i }}", "url": "u", "dimensions": {"i": {"stop": 1}}}


@pytest.mark.parametrize("more", AROUND)
def test_number_of_rules(limits: Limits, more: int) -> None:
    limits(gen_rules=50)
    error = refused(lambda: open_references(text(refs={}, gen=[RULE] * (50 + more))), more)
    assert error is None or error.place.pointer == "/gen/50"


@pytest.mark.parametrize("more", AROUND)
def test_source_of_all_rules(limits: Limits, more: int) -> None:
    rules = [RULE | {"url": "x" * 5000}, RULE, RULE]
    limits(rules_source=3 * len('"k{{ i }}"') - more)
    error = refused(lambda: open_references(text(refs={}, gen=rules)), more)
    assert error is None or error.place.pointer == "/gen/2/key"


@pytest.mark.slow
def test_a_long_value_is_not_read_again_for_each_of_its_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    from refbrowser.references.text.json_text import JsonReader

    real, begun = JsonReader.value, 0

    def value(reader: JsonReader, *arguments: Any) -> Any:
        nonlocal begun
        begun += 1
        return real(reader, *arguments)

    monkeypatch.setattr(JsonReader, "value", value)
    numbers = list(range(20_000))
    data = text(refs={}, other=numbers)
    pieces = (data[start : start + 100] for start in range(0, len(data), 100))
    assert ReferenceDocument.read(pieces).version == 1
    assert begun < 4 * len(numbers)


@pytest.mark.parametrize("cut", [1, 2, 10])
def test_what_follows_the_end_in_another_piece_is_seen(cut: int) -> None:
    data = text(refs={})
    for rest in (b" ]", b"]", b"  \n "):
        pieces = [data[:-cut], data[-cut:], *(rest[at : at + 1] for at in range(len(rest)))]
        if rest.strip():
            with pytest.raises(RefbrowserError) as caught:
                ReferenceDocument.read(pieces)
            assert caught.value.kind is ErrorKind.JSON
        else:
            assert ReferenceDocument.read(pieces).version == 1


@pytest.mark.slow
def test_a_long_template_is_its_own_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(text(templates={"t": "{{ c }}" + "x" * 20_000_000}, refs={"a": "b"}))
    assert main(["check", str(path), "--json", "--yes"]) == 2
    (fault,) = json.loads(capsys.readouterr().out)["faults"]
    assert (fault["kind"], fault["pointer"], fault["line"]) == ("E_BUDGET", "/templates/t", 1)


def test_limits_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["limits"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in ("gen_rules", "rules_source", "json_values", "metadata_elsewhere"))
