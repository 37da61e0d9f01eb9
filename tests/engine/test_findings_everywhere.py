"""What is found wrong is the same below the window and on the command line, and named as users know it."""

from __future__ import annotations

import json
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

import pytest

import refbrowser
from refbrowser.cli import main
from refbrowser.engine.findings import range_findings
from refbrowser.engine.findings.collected_findings import collect
from refbrowser.engine.findings.dataset_findings import DatasetFindings, dataset_findings
from refbrowser.engine.findings.range_findings import TOLD
from refbrowser.engine.store_listing import list_store
from refbrowser.formats.references import hierarchy_of
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import SetReference
from refbrowser.references.rules.rule_search import SearchTime

ZARRAY = {
    "zarr_format": 2,
    "shape": [4],
    "chunks": [2],
    "dtype": "|u1",
    "compressor": None,
    "filters": None,
    "fill_value": 7,
    "order": "C",
}
GROUP = '{"zarr_format": 2}'
ATTRIBUTES = '{"_ARRAY_DIMENSIONS": ["d"], "x": NaN, "t": "ü"}'


def written(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


# Places


@pytest.mark.slow
def test_no_place_is_in_a_text_that_nobody_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = {
        ".zgroup": GROUP,
        "a/.zarray": json.dumps(ZARRAY),
        "a/.zattrs": ATTRIBUTES,
        "A/.zarray": json.dumps(ZARRAY),
        "A/.zattrs": '{"_ARRAY_DIMENSIONS": ["d"]}',
        "a/0": "ab",
        "A/0": "ab",
    }
    document = written(tmp_path / "d.json", odd)
    for key, text in (odd | {"b/.zarray": "{"}).items():
        written(tmp_path / "store" / key, text)
    with zipfile.ZipFile(tmp_path / "store.zip", "w") as archive:
        for key, text in odd.items():
            archive.writestr(key, text)
    for format, name in (("ncstream", "d.ncs"), ("awkward0", "d.awkd"), ("refs-parquet", "d.parq")):
        refbrowser.export(document, tmp_path / name, format=format, arrays=["/a", "/A"])
    for name in ("store", "store.zip", "d.ncs", "d.awkd", "d.parq"):
        main(["check", str(tmp_path / name), "--json"])
        told = json.loads(capsys.readouterr().out)
        findings = told["faults"] + told["warnings"]
        assert findings, name
        for finding in findings:
            assert finding["pointer"] is finding["line"] is finding["column"] is None, name
            assert "key" in finding or "path" in finding, (name, finding)
        for arguments in (["check"], ["info"], ["expand", "--skip-bad"], ["explain"]):
            main([*arguments, str(tmp_path / name), *(["a/0"] if arguments == ["explain"] else [])])
            shown = capsys.readouterr()
            for text in (shown.out, shown.err):
                assert ", column " not in text, (name, arguments)
                assert "pointer" not in text, (name, arguments)
    # What is odd about JSON and keys is no matter of files that have none.
    main(["check", str(tmp_path / "d.ncs"), "--json"])
    (only,) = json.loads(capsys.readouterr().out)["warnings"]
    assert (only["path"], only["message"].split(" only")[0]) == ("/A", "the name differs from '/a'")


def test_metadata_that_is_no_json_is_placed_in_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = written(tmp_path / "d.json", {".zgroup": GROUP, "b/.zarray": '{"a": 1,\n'})
    assert main(["read", str(document), "/b"]) == 2
    assert "key 'b/.zarray', character 1 of its line 2)" in capsys.readouterr().err


# The same findings


def rule(**fields: Any) -> dict[str, Any]:
    given = {"key": "a/{{i}}", "url": "x.bin", "offset": "{{i * 2}}", "length": "2"}
    return given | {"dimensions": {"i": {"stop": 2}}} | fields


BIG = 2**63
REFS = {".zgroup": GROUP, "a/.zarray": json.dumps(ZARRAY)}
#: Members of a document, entries of its refs, and what is found: severity, place, a part of the message.
TABLE: dict[str, tuple[dict[str, Any], dict[str, Any], list[tuple[str, str, str]]]] = {
    "nothing": ({"gen": [rule()]}, {}, []),
    "empty URLs": (
        {"templates": {"u": ""}},
        {"a/0": ["", 0, 2], "a/1": ["{{u}}"]},
        [("faults", "/refs/a~10", "the URL is empty"), ("faults", "/refs/a~11", "the URL is empty")],
    ),
    "an empty URL of a rule": ({"gen": [rule(url="")]}, {}, [("faults", "/gen/0/url", "the URL is empty")]),
    "empty URLs of some rows": (
        {"gen": [rule(url="{{ 'x.bin' if i else '' }}")]},
        {},
        [("faults", "/gen/0/url", "the URL is empty")],
    ),
    "ranges beyond 2^63": (
        {},
        {"a/0": ["s3://b/x", BIG - 2, 2], "a/1": ["s3://b/x", BIG - 5, 2]},
        [("faults", "/refs/a~10", "2^63")],
    ),
    "a range of a rule beyond 2^63": (
        {"gen": [rule(url="s3://b/x", offset=f"{{{{{BIG - 5} + i * 2}}}}", length="2")]},
        {},
        [],
    ),
    "ranges of a rule beyond 2^63": (
        {"gen": [rule(url="s3://b/x", offset=f"{{{{{BIG - 3} + i * 2}}}}", length="2")]},
        {},
        [("faults", "/gen/0/length", "2^63")],
    ),
    "a range that is not affine beyond 2^63": (
        {"gen": [rule(url="s3://b/{{i}}", offset="{{ 1 if i else 9223372036854775806 }}", length="2")]},
        {},
        [("faults", "/gen/0/length", "2^63")],
    ),
    "ranges past the end of a local file": (
        {},
        {"a/0": ["x.bin", 3, 2], "a/1": ["x.bin", 0, 2]},
        [("faults", "/refs/a~10", "ends at byte 5, past the end of 'x.bin', which has 4 bytes")],
    ),
    "rows past the end of a local file": (
        {"gen": [rule(offset="{{i * 3}}")]},
        {},
        [("faults", "/gen/0/length", "ends at byte 5, past the end of 'x.bin'")],
    ),
    "rows past the ends of local files": (
        {"gen": [rule(url="x{{ '' if i else '.bin' }}", offset="3")]},
        {},
        [("faults", "/gen/0/length", "ends at byte 5, past the end of 'x.bin'")],
    ),
    "a file outside of the folder is not looked at": (
        {},
        {"a/0": ["../outside.bin", 0, 2]},
        [("warnings", "/refs/a~10", "the name leads outside the folder")],
    ),
    "lenient base64": (
        {},
        {"a/0": "base64:AA\nEC", "a/1": "base64:AR==", "a/.zattrs": "base64:e30="},
        [("warnings", "/refs/a~10", "lenient"), ("warnings", "/refs/a~11", "lenient")],
    ),
    "a member twice": (
        {},
        {"a/.zarray": json.dumps(ZARRAY)[:-1] + ', "shape": [4]}', "a/.zattrs": '{"x": {"y": 1, "y": 1}}'},
        [
            ("warnings", "/refs/a~1.zarray", "member 'shape' occurs more than once"),
            ("warnings", "/refs/a~1.zattrs", "member 'y' occurs more than once"),
        ],
    ),
    "a shuffle of 0 bytes": (
        {},
        {"a/.zarray": json.dumps(ZARRAY | {"filters": [{"id": "shuffle", "elementsize": 0}]})},
        [("warnings", "/refs/a~1.zarray", "the shuffle has elements of 0 bytes")],
    ),
    "keys that are not chunks": (
        {},
        {"a/1": ["x.bin"], "a/2": ["x.bin"], "a/0.0": ["x.bin"], "a/b/0": ["x.bin"]},
        [
            ("warnings", "/refs/a~12", "the chunk is outside the array's chunk grid"),
            ("warnings", "/refs/a~10.0", "the key is not a chunk of its array"),
            ("warnings", "/refs/a~1b~10", "the key is not a chunk of its array"),
        ],
    ),
    "rows outside of the grid": (
        {"gen": [rule(url="s3://b/x", dimensions={"i": {"stop": 10**12}})]},
        {},
        [("warnings", "/gen/0/key", "the chunk is outside the array's chunk grid: 'a/2'")],
    ),
    "rules for nothing": (
        {"gen": [rule(key="b/{{i}}"), rule(key="a/0.{{i}}"), rule(key="a/{{ 'x' if i else 'y' }}")]},
        {},
        [
            ("warnings", "/gen/0/key", "the rule gives keys of no array: 'b/0'"),
            ("warnings", "/gen/1/key", "the rule gives no chunk of its array: 'a/0.0'"),
            ("warnings", "/gen/2/key", "the rule gives keys of no array: 'a/y'"),
        ],
    ),
    "an unused template": (
        {"templates": {"u": "x", "f": "{{c}}", "v": "y"}},
        {"a/0": ["{{u}}.bin", 0, 2], "a/1": ["v{{ f(c='v') }}"]},
        [("warnings", "/templates/v", "the template 'v' is not used")],
    ),
    "metadata that cannot be used": (
        {},
        {"a/.zarray": json.dumps(ZARRAY | {"shape": "4"})},
        [("faults", "/refs/a~1.zarray", "shape")],
    ),
    "faulty members": (
        {"gen": {}, "templates": {"u": 1}},
        {},
        [("faults", "/gen", ""), ("faults", "/templates/u", "")],
    ),
}


def of_check(path: Path, capsys: pytest.CaptureFixture[str]) -> set[tuple[Any, ...]]:
    main(["check", str(path), "--json"])
    told = json.loads(capsys.readouterr().out)
    return {
        (severity, each["kind"], each["pointer"], each["line"], each.get("key"), each["message"])
        for severity in ("faults", "warnings")
        for each in told[severity]
    }


def of_window(path: Path) -> set[tuple[Any, ...]]:
    with refbrowser.open(path) as dataset:
        found = collect(dataset.document, dataset.hierarchy, access=dataset.access)
    return {
        (
            "faults" if each.is_fault else "warnings",
            str(each.kind),
            each.place.pointer,
            each.line,
            each.place.key if each.place.pointer is None else None,
            each.message,
        )
        for each in found.items
    }


@pytest.mark.slow
def test_check_and_the_window_find_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "x.bin").write_bytes(b"1234")
    (tmp_path / "outside.bin").write_bytes(b"")
    for number, (name, (members, refs, expected)) in enumerate(TABLE.items()):
        path = written(folder / f"{number}.json", {"version": 1, "refs": REFS | refs} | members)
        found = of_check(path, capsys)
        assert found == of_window(path), name
        assert sorted(each[:3:2] for each in found) == sorted(each[:2] for each in expected), (name, found)
        for severity, pointer, message in expected:
            assert [each for each in found if each[:3:2] == (severity, pointer) and message in each[-1]], name
        assert all(each[3] is not None for each in found), name
    store = tmp_path / "store"
    for key, text in {**REFS, "a/.zattrs": ATTRIBUTES, "a/9": "ab", "b/.zarray": "{"}.items():
        written(store / key, text)
    with refbrowser.open(store) as dataset:
        list_store(dataset)
        found = collect(dataset.document, dataset.hierarchy, access=dataset.access)
    assert {each.message for each in found.items} == {each[-1] for each in of_check(store, capsys)}


def test_what_is_found_can_be_repaired_and_edits_count(tmp_path: Path) -> None:
    members = {"templates": {"v": "y"}, "gen": [rule(key="b/{{i}}")]}
    path = written(tmp_path / "d.json", {"version": 1, "refs": REFS | {"a/0": ["", 0, 2]}} | members)
    with refbrowser.open(path) as dataset:
        document = dataset.document
        found = collect(document, dataset.hierarchy, access=dataset.access)
        assert len(found.items) == 3
        for finding in found.items:
            assert finding.fix is not None, finding.message
            document = document.apply(finding.fix.edit)
        again = dataset.with_document(document)
        assert collect(again.document, again.hierarchy, access=again.access).items == ()
        for key, value in (("a/7", ["s3://b/x", 0, 2]), ("a/1", ["s3://b/x", BIG, 2])):
            document = document.apply(SetReference(key, value))
        again = dataset.with_document(document)
        keys = [each.place.key for each in collect(again.document, again.hierarchy).items]
        assert sorted(keys) == ["a/1", "a/7"]


@pytest.mark.slow
def test_large_documents_are_looked_at_within_bounds(tmp_path: Path) -> None:
    zarray = json.dumps(ZARRAY | {"shape": [200_000], "chunks": [1]})
    many = {f"a/{number}": ["x.bin", number, 9] for number in range(200_000)}
    gen = [
        rule(key="b/{{i}}", url="far_{{ i // 3 }}.bin", offset="{{ i if i else 0 }}", length="1")
        | {"dimensions": {"i": {"stop": 10**12}}}
    ]
    metadata = {
        ".zgroup": GROUP,
        "a/.zarray": zarray,
        "b/.zarray": json.dumps(ZARRAY | {"shape": [2 * 10**12]}),
    }
    path = written(tmp_path / "d.json", {"version": 1, "refs": metadata | many, "gen": gen})
    (tmp_path / "x.bin").write_bytes(bytes(1000))
    with refbrowser.open(path) as dataset:
        since = time.process_time()
        found = collect(dataset.document, dataset.hierarchy, access=dataset.access)
        assert time.process_time() - since < 20
    messages = [each.message for each in found.items]
    past = [message for message in messages if "past the end of 'x.bin'" in message]
    assert len(past) == TOLD
    assert f"{200_000 - 992 - TOLD} more references end past the ends of their files" in messages
    (open_,) = [message for message in messages if "files can have what the rule refers to" in message]
    assert open_.endswith("rows checked)")


def calls_of(action: Callable[[], Any]) -> int:
    """Return how many calls an action makes, those of generators that go on among them."""
    found = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal found
        found += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(before)
    return found


@pytest.mark.slow
def test_findings_grow_with_what_is_broken_and_not_with_its_square() -> None:
    def findings(count: int) -> int:
        refs: dict[str, Any] = {".zgroup": GROUP}
        for number in range(count):
            # Not JSON; JSON and no array; an array whose copy differs; chunks of no known array.
            refs |= {f"a{number}/.zarray": "{", f"b{number}/.zarray": "[]", f"b{number}/0": ["x", 0, 2]}
            refs |= {f"c{number}/.zarray": json.dumps(ZARRAY), f"c{number}/0": ["x", 2 * number, 2]}
        copies = {f"c{number}/.zarray": ZARRAY | {"fill_value": 8} for number in range(count)}
        refs[".zmetadata"] = json.dumps({"zarr_consolidated_format": 1, "metadata": copies})
        rules = [rule(key=f"c{number}/{{{{i}}}}", url=f"{number}") for number in range(0, count, 4)]
        document = ReferenceDocument.of(json.dumps({"version": 1, "gen": rules, "refs": refs}).encode())
        hierarchy = hierarchy_of(document)
        # What of rules is compared with each other is bounded by steps of its own.
        with patch("refbrowser.engine.findings.dataset_findings.all_findings", lambda *_: document.findings):
            return calls_of(lambda: found.append(dataset_findings(document, hierarchy)))

    found: list[DatasetFindings] = []
    # What is loaded and made once is no part of it.
    _, few, many = findings(1), findings(50), findings(200)
    assert many < 4.8 * few
    assert [len(each.all) for each in found[1:]] == [4 * 50 + 1, 4 * 200 + 1]


@pytest.mark.slow
def test_each_array_costs_little_beside_its_own_metadata(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def calls(verb: str, count: int) -> int:
        refs: dict[str, Any] = {".zgroup": GROUP}
        for number in range(count):
            attributes = {"_ARRAY_DIMENSIONS": ["x"], "units": "m", "long_name": f"variable {number}"}
            refs |= {f"v{number}/.zarray": json.dumps(ZARRAY), f"v{number}/.zattrs": json.dumps(attributes)}
            refs |= {f"v{number}/{chunk}": ["s3://b/x", 4 * number + 2 * chunk, 2] for chunk in (0, 1)}
        path = written(tmp_path / "d.json", {"version": 1, "refs": refs})
        found = calls_of(lambda: main([verb, str(path)]))
        capsys.readouterr()
        return found

    for verb, most in (("check", 580), ("info", 1030)):
        calls(verb, 1)
        few, many = calls(verb, 50), calls(verb, 150)
        assert (many - few) / 100 < most, verb


def test_odd_references_are_counted_and_only_some_described(monkeypatch: pytest.MonkeyPatch) -> None:
    past = {f"a/{number}": ["", 0, 1] if number % 2 else ["x.bin", 0, 9] for number in range(3_000)}
    large = {f"b/{number}": ["s3://b/x", BIG, 1] for number in range(1_000)}
    document = ReferenceDocument.of(json.dumps(REFS | past | large).encode())
    monkeypatch.setattr(range_findings, "_PAGE", 500)
    monkeypatch.setattr(range_findings.FileEnds, "_size", lambda *_: 8)
    described = Mock(side_effect=range_findings.past_end_words)
    monkeypatch.setattr(range_findings, "past_end_words", described)

    def messages(left: SearchTime) -> list[str]:
        return [each.message for each in range_findings.range_findings(document, None, left)]

    found = messages(SearchTime())
    assert described.call_count == TOLD
    assert found.count("the URL is empty") == TOLD
    assert found[3 * TOLD :] == [
        f"{1500 - TOLD} more references have an empty URL",
        f"{1500 - TOLD} more references end past the ends of their files",
        f"{1000 - TOLD} more references end beyond 2^63",
    ]
    # No other file is looked at then: what was known of this one holds.
    over = messages(SearchTime(seconds=0))
    assert over[TOLD:] == [
        "whether files can have what other references refer to is not decided (500 references checked)",
        "199 more references have an empty URL",
        "whether ranges end past the ends of other local files is not decided (0 files checked)",
    ]
