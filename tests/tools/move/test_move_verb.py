"""``move``: the tree of places, what would change, what is written after a test, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from servers.http_server import HttpServer

import refbrowser
from refbrowser.cli import main

ARRAY = {
    "zarr_format": 2, "shape": [2, 4], "chunks": [1, 4], "dtype": "|u1", "compressor": None, "filters": None,
    "fill_value": 0, "order": "C",
}  # fmt: skip


@pytest.fixture
def document(tmp_path: Path) -> Path:
    for folder, data in (("old", b"12345678"), ("new", b"12345678")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.bin").write_bytes(data)
    refs = {"a/.zarray": json.dumps(ARRAY), "a/0.0": ["{{u}}/x.bin", 0, 4], "a/1.0": ["{{u}}/x.bin", 4, 4]}
    path = tmp_path / "doc.json"
    path.write_text(json.dumps({"version": 1, "templates": {"u": "old"}, "refs": refs}))
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> tuple[str, str]:
    assert main(["move", *map(str, arguments)]) == code
    return capsys.readouterr()


def run_json(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> Any:
    return json.loads(run(capsys, *arguments, "--json", code=code)[0])


def test_places_are_listed(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, document)[0].splitlines() == [
        "        1           2       8 B  .",
        "        1           2       8 B    old/",
        "        1           2       8 B      x.bin",
    ]
    (root,) = run_json(capsys, document)
    assert (root["kind"], root["files"], root["children"][0]["prefix"]) == ("relative", 1, "old/")


def test_a_document_is_written_after_its_new_places_were_tested(
    document: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = document.parent / "deeper" / "moved.json"
    target.parent.mkdir()
    found = run_json(capsys, document, "old/", "new/", "--test", "-o", target)
    assert (found["files"], found["references"], found["written"]) == (1, 2, True)
    assert [each["found"] for each in found["test"]] == ["same"]
    assert found["texts"] == [{"name": "template u", "before": "old", "after": "new"}]
    (document.parent / "old" / "x.bin").unlink()
    with refbrowser.open(target, allow=[str(document.parent)]) as dataset:
        assert bytes(dataset["a"][:].ravel()) == b"12345678"
    # What is there is replaced only where that is said.
    before = target.read_bytes()
    assert "E_" in run(capsys, document, "old/", "newer/", "-o", target, code=7)[1]
    assert target.read_bytes() == before
    run(capsys, document, "old/", "newer/", "-o", document, "--force")
    assert json.loads(document.read_text())["templates"] == {"u": "newer"}


def test_nothing_is_written_without_a_target_or_where_the_test_fails(
    document: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in document.parent.iterdir() if path.is_file()}
    out, err = run(capsys, document, "old/", "new")
    assert out.endswith("nothing was written; give -o OUT\n")
    assert "does not end in /" in err
    target = document.parent / "target.json"
    (document.parent / "new" / "x.bin").write_bytes(b"123")
    out = run(capsys, document, "old/", "new/", "--test", "-o", target, code=4)[0]
    assert "differs: new/x.bin (3 bytes; references need 8)" in out
    with HttpServer() as server:
        found = run_json(capsys, document, "old/", server.url("/"), "--test", "-o", target, code=3)
        assert (found["written"], server.request_count) == (False, 0)
        server.files["/x.bin"] = b"12345678"
        allowed = ("--allow", server.origin)
        found = run_json(capsys, document, "old/", server.url("/"), "--test", *allowed)
        assert [each["found"] for each in found["test"]] == ["same"]
    assert {path: path.read_bytes() for path in document.parent.iterdir() if path.is_file()} == before


def test_a_place_becomes_a_template_and_relative_names_absolute(
    document: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = document.parent / "target.json"
    run(capsys, document, "old/", "s3://bucket/x/", "--as-template", "place", "-o", target)
    written = json.loads(target.read_text())
    assert written["templates"]["place"] == "s3://bucket/x/"
    assert written["refs"]["a/0.0"] == ["{{place}}x.bin", 0, 4]
    run(capsys, document, ".", "gs://bucket/d/", "-o", target, "--force")
    with refbrowser.open(target) as dataset:
        assert dataset.document.urls.texts == ("gs://bucket/d/old/x.bin",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("old/",), "OLD needs NEW"),
        (("elsewhere/", "new/"), "no URL of the document begins with"),
        (("old/", "old/"), "the same"),
        (("old/", "s3://{{x}}/"), "text that a template would render"),
        ((".", "s3://b/", "--as-template", "p"), "no common prefix for a template"),
        (("old/", "new/", "-o", "x.parquet"), "parquet"),
    ],
)
def test_what_cannot_be_done_is_refused(
    document: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert message in run(capsys, document, *arguments, code=2)[1]
