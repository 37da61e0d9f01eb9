"""Documents that lack something: whatever writes or reads what they lack says so, and writes no fill."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import refbrowser
from refbrowser.cli import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.saving.save import SaveOrder, write_document
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.tools.explain.report.explain import Question, explain
from refbrowser.tools.explain.report.explanation import VerdictKind

ZARRAY = {
    "zarr_format": 2,
    "shape": [4],
    "chunks": [1],
    "dtype": "|u1",
    "compressor": None,
    "filters": None,
    "fill_value": 7,
    "order": "C",
}
REFS = {".zgroup": '{"zarr_format":2}', "a/.zarray": json.dumps(ZARRAY)}
RULE = {
    "key": "a/{{i}}",
    "url": "x.bin",
    "offset": "{{i}}",
    "length": "1",
    "dimensions": {"i": {"stop": 4}},
}
#: Members that a document may have, its fault, what is left out, and whether chunks of /a are lost with it.
FAULTS: dict[str, tuple[dict[str, Any], str, str, bool]] = {
    "step 0": (
        {"gen": [RULE | {"dimensions": {"i": {"stop": 4, "step": 0}}}]},
        "/gen/0/dimensions/i/step",
        "1 gen rule",
        True,
    ),
    "no stop": (
        {"gen": [RULE | {"dimensions": {"i": {"start": 4}}}]},
        "/gen/0/dimensions/i",
        "1 gen rule",
        True,
    ),
    "no dimensions": (
        {"gen": [{name: text for name, text in RULE.items() if name != "dimensions"}]},
        "/gen/0/dimensions",
        "1 gen rule",
        True,
    ),
    "dimensions is a list": (
        {"gen": [RULE | {"dimensions": [{"i": {}}]}]},
        "/gen/0/dimensions",
        "1 gen rule",
        True,
    ),
    "dimensions is empty": ({"gen": [RULE | {"dimensions": {}}]}, "/gen/0/dimensions", "1 gen rule", True),
    "a rule is text": ({"gen": ["x"]}, "/gen/0", "1 gen rule", True),
    "gen is an object": ({"gen": RULE}, "/gen", "the member 'gen'", True),
    "gen is null": ({"gen": None}, "/gen", "the member 'gen'", False),
    "refs is a list": ({"gen": [RULE], "refs": [REFS]}, "/refs", "the member 'refs'", False),
    "templates is a list": ({"templates": ["u"]}, "/templates", "the member 'templates'", False),
    "a template is no text": ({"templates": {"u": 5}}, "/templates/u", "1 template", False),
    "a template is faulty": ({"templates": {"u": "{{"}}, "/templates/u", "1 template", False),
    "a key is faulty": (
        {"gen": [RULE | {"key": "a/{{i"}]},
        "/gen/0/key",
        "4 faulty rows of gen rules",
        True,
    ),
    "a key is no text": ({"gen": [RULE | {"key": 5}]}, "/gen/0/key", "4 faulty rows of gen rules", True),
    "a key is faulty in a row": (
        {"gen": [RULE | {"key": "a/{{6 // (i - 1)}}"}]},
        "/gen/0/key",
        "1 faulty row of gen rules",
        True,
    ),
    "a rule without rows is faulty": (
        {"gen": [RULE | {"url": "{{nope}}", "dimensions": {"i": {"stop": 0}}}]},
        "/gen/0/url",
        "",
        False,
    ),
    "an entry is faulty": ({"refs": REFS | {"a/0": 5}}, "/refs/a~10", "1 faulty entry of refs", True),
}


@pytest.mark.slow
def test_what_is_lacking_is_told_by_whatever_writes_or_reads_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.bin").write_bytes(b"\1\2\3\4")
    for number, (name, (members, pointer, left_out, is_lost)) in enumerate(FAULTS.items()):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps({"version": 1, "refs": REFS} | members))
        for arguments in ([], ["--json"]):
            assert main(["expand", str(path), *arguments]) == 2, name
            told = capsys.readouterr()
            assert told.out == "", name
            if arguments:
                assert json.loads(told.err.splitlines()[-1])["error"]["place"]["pointer"] == pointer, name
            else:
                assert f"pointer '{pointer}'" in told.err, name
        for arguments in ([], ["--json"]):
            assert main(["expand", str(path), "--skip-bad", *arguments]) == 0, name
            told = capsys.readouterr()
            assert json.loads(told.out) is not None
            assert (f"left out: {left_out} (" in told.err) if left_out else "left out" not in told.err, name
            assert f"pointer '{pointer}'" in told.err, name
        with pytest.raises(RefbrowserError):
            refbrowser.expand(path)
        assert refbrowser.expand(path, skip_bad=True) is not None
        document = ReferenceDocument.of(path.read_bytes())
        for is_copy in (False, True):
            with pytest.raises(RefbrowserError):
                write_document(document, SaveOrder(str(tmp_path / "saved"), 0, is_copy=is_copy))
        with refbrowser.open(path) as dataset:
            for format in ("refs-v0", "refs-v1", "refs-parquet", "zarr-v2"):
                target = tmp_path / f"{number}.{format}"
                with pytest.raises(RefbrowserError) as caught:
                    refbrowser.export(dataset, target, format=format)
                assert pointer in (caught.value.place.pointer or ""), (name, format)
                assert not target.exists(), (name, format)
                report = refbrowser.export(dataset, target, format=format, skip_bad=True)
                assert [each for each in report.skipped if each.place.pointer == pointer], (name, format)
            if not is_lost:
                continue
            with pytest.raises(RefbrowserError) as caught:
                dataset["/a"][...]
            assert caught.value.place.pointer == pointer, name
            stored = dataset["/a"].node.manifest.stored()
            assert stored is None or name == "an entry is faulty"
            told = explain(dataset, Question(key="a/0"))
            assert told.kind is VerdictKind.FAULTY, name
            cause = "gen rule 0" if pointer.startswith("/gen/0") else "a part of the document"
            said = f"{cause} may give its reference"
            assert said in told.verdict or name == "an entry is faulty", name
    assert main(["read", str(tmp_path / "0.json"), "/a", "--json"]) == 2
    assert capsys.readouterr().out == ""


def test_rows_that_are_not_there_are_not_counted_and_keys_not_denied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "d.json"
    path.write_text(json.dumps({"version": 1, "refs": REFS, "gen": FAULTS["step 0"][0]["gen"]}))
    for arguments in (["--count", "0"], ["--start", "1"], ["--key", "a/0"], ["--key", ".zgroup"]):
        assert main(["expand", str(path), *arguments]) == 2
        assert capsys.readouterr().out == ""
        assert main(["expand", str(path), "--skip-bad", *arguments]) == 0
        assert "the step of the dimension is 0" in capsys.readouterr().err
    path.write_text(json.dumps({"version": 1, "refs": REFS, "gen": FAULTS["a key is faulty"][0]["gen"]}))
    assert main(["expand", str(path), "--key", ".zgroup", "--key", "b/0"]) == 0
    assert main(["expand", str(path), "--key", "a/0"]) == 2
    assert main(["cat", str(path), "a/0"]) == 2


def test_a_range_beyond_what_a_file_can_have_is_not_dropped_from_parquet(tmp_path: Path) -> None:
    refs = REFS | {"a/0": ["x.bin", 2**63 - 1, 5], "a/1": ["x.bin", 0, 1]}
    path, target = tmp_path / "d.json", tmp_path / "d.parq"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    with pytest.raises(RefbrowserError) as caught:
        refbrowser.export(path, target, format="refs-parquet")
    assert caught.value.kind is ErrorKind.RANGE
    assert not target.exists()
    report = refbrowser.export(path, target, format="refs-parquet", skip_bad=True)
    assert [error.place.key for error in report.skipped] == ["a/0"]
