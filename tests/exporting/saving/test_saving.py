"""Saving somewhere else: versions, packed files, relative URLs that keep their meaning, estimates."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from refbrowser.errors import RefbrowserError
from refbrowser.exporting.saving.save import SaveOrder, write_document
from refbrowser.exporting.saving.save_preview import save_preview, version0_size
from refbrowser.formats.references import open_references
from refbrowser.references.document.document import ReferenceDocument

RULE = {
    "key": "a/{{i}}",
    "url": "{{u}}",
    "offset": "{{i * 10}}",
    "length": "10",
    "dimensions": {"i": {"stop": 500}},
}


def document(**members: Any) -> ReferenceDocument:
    body = {"version": 1, "templates": {"u": "data.bin"}, "gen": [RULE], **members}
    return ReferenceDocument.of(json.dumps(body).encode())


def urls(document: ReferenceDocument) -> set[str | None]:
    return set(document.expansion.items(0, 10_000).urls)


@pytest.mark.parametrize("name", ["a.json", "a.json.gz", "a.json.zst"])
def test_version_0_is_written_packed_and_becomes_the_document(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    written = write_document(document(), SaveOrder(str(path), 0))
    assert written.document is not None
    assert written.document.version == 0
    assert written.edit.title == "Make it Version 0"
    again = open_references(path)
    assert again.to_bytes() == written.document.to_bytes()
    assert json.loads(again.to_bytes())["a/499"] == ["data.bin", 4990, 10]
    copy = tmp_path / f"copy of {name}"
    copied = write_document(document(), SaveOrder(str(copy), 0, is_copy=True))
    assert copied.document is None
    assert open_references(copy).to_bytes() == again.to_bytes()


def test_version_1_of_version_0_and_gzip(tmp_path: Path) -> None:
    plain = ReferenceDocument.of(b'{"a/0": ["x", 0, 1]}')
    written = write_document(plain, SaveOrder(str(tmp_path / "a.json.gz"), 1))
    assert gzip.decompress((tmp_path / "a.json.gz").read_bytes()) == written.document.to_bytes()
    assert written.document.version == 1


def test_relative_urls_keep_their_meaning(tmp_path: Path) -> None:
    opened = document(refs={"b": ["x/y.bin"], "c": ["s3://b/z"], "d": ["{{u}}", 0, 1], "e": ["/abs/x"]})
    target = tmp_path / "new" / "deep"
    target.mkdir(parents=True)
    seen = save_preview(opened, 1, str(tmp_path / "old"), str(target))
    assert (seen.relative, seen.example, seen.prefix) == (3, "x/y.bin", "../../old/")
    written = write_document(opened, SaveOrder(str(target / "a.json"), 1, prefix=seen.prefix))
    expected = {"../../old/x/y.bin", "s3://b/z", "../../old/data.bin", "/abs/x"}
    assert urls(written.document) == expected
    assert written.document.templates.texts == opened.templates.texts
    assert urls(opened) == {"x/y.bin", "s3://b/z", "data.bin", "/abs/x"}
    both = write_document(opened, SaveOrder(str(target / "b.json"), 0, prefix=seen.prefix))
    assert urls(both.document) == expected
    assert both.edit.title == "Save as Version 0"


def test_urls_of_a_document_from_the_network_become_absolute(tmp_path: Path) -> None:
    opened = document(refs={"b": ["../y.bin"]})
    seen = save_preview(opened, 1, "https://example.org/data/refs/a.json", str(tmp_path))
    written = write_document(opened, SaveOrder(str(tmp_path / "a.json"), prefix=seen.prefix))
    assert urls(written.document) == {
        "https://example.org/data/y.bin",
        "https://example.org/data/refs/data.bin",
    }


def test_values_of_the_user_do_not_decide_what_is_relative(tmp_path: Path) -> None:
    opened = document().with_template_values({"u": "https://example.org/x"})
    seen = save_preview(opened, 1, "/old", str(tmp_path))
    assert seen.relative == 1
    written = write_document(opened, SaveOrder(str(tmp_path / "a.json"), prefix="../old/"))
    assert json.loads(written.document.to_bytes())["gen"][0]["url"] == "../old/{{u}}"


def test_same_folder_needs_nothing(tmp_path: Path) -> None:
    assert save_preview(document(), 1, str(tmp_path), str(tmp_path)).relative == 0


def test_rule_with_both_kinds_of_url_is_an_obstacle(tmp_path: Path) -> None:
    rule = {**RULE, "url": "{{'https://h/x' if i % 2 else 'x'}}"}
    seen = save_preview(document(gen=[rule]), 1, "/old", str(tmp_path))
    assert "some URLs of gen rule 0 are relative" in seen.obstacle


def test_size_of_version_0_is_about_right() -> None:
    opened = document(refs={f"b/{i}": ["some/longer/name.bin", i, 1] for i in range(100)})
    real = len(b"".join(opened.expansion.to_version0()))
    assert 0.8 * real < version0_size(opened) < 1.25 * real
    seen = save_preview(opened, 0, "/a", "/a")
    assert seen.rows == 600
    assert not seen.is_larger_than_opened


def test_version_0_of_a_huge_rule_is_refused_before_it_begins(tmp_path: Path) -> None:
    huge = document(gen=[{**RULE, "dimensions": {"i": {"stop": 10**9}}}])
    seen = save_preview(huge, 0, "/a", "/a")
    assert seen.rows == 10**9
    assert seen.is_larger_than_opened
    assert seen.size > 10**10
    with pytest.raises(RefbrowserError, match="more than the limit"):
        write_document(huge, SaveOrder(str(tmp_path / "a.json"), 0))
    assert not list(tmp_path.iterdir())
