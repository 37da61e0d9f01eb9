"""The file beside a document: found by itself, changed member by member, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from refbrowser.engine.expectations.expect_beside import (
    change_expect,
    expect_beside,
    expect_path,
    read_expect,
)
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.references.expectations.expect_file import ExpectFile, with_declares, with_expect


def _found(document: str) -> ExpectFile | None:
    def none() -> None:
        raise AssertionError("a local file takes no server")

    return expect_beside(document, Access("/", from_network=False), none, CancelToken())  # type: ignore[arg-type]


def test_it_lies_beside_the_document() -> None:
    assert expect_path("/data/t2m.json") == "/data/t2m.json.expect.json"
    assert expect_path("/data/repo/") == "/data/repo.expect.json"
    assert expect_path("https://a/b.json?key=1") == "https://a/b.json.expect.json?key=1"


def test_members_are_changed_one_by_one(tmp_path: Path) -> None:
    document = str(tmp_path / "t2m.json")
    assert _found(document) is None
    path = change_expect(document, lambda file: with_expect(file, {"axes": []}))
    assert path == expect_path(document)
    change_expect(document, lambda file: with_declares(file, {"/t2m": {}}))
    assert _found(document) == ExpectFile({"axes": []}, {"/t2m": {}})


def test_what_was_written_meanwhile_is_not_lost(tmp_path: Path) -> None:
    document = str(tmp_path / "t2m.json")
    change_expect(document, lambda file: with_expect(file, {}))

    def slow(file: ExpectFile) -> ExpectFile:
        Path(expect_path(document)).write_text('{"version": 1, "expect": {"axes": []}}   ')
        return with_declares(file, {})

    with pytest.raises(RefbrowserError, match="changed"):
        change_expect(document, slow)
    assert _found(document) == ExpectFile({"axes": []})


def test_a_document_at_a_url_has_none_that_could_be_written() -> None:
    with pytest.raises(RefbrowserError) as caught:
        change_expect("https://host/t2m.json", lambda file: file)
    assert caught.value.kind is ErrorKind.USAGE


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    document = str(tmp_path / "t2m.json")
    os.symlink(tmp_path / "other", expect_path(document))
    with pytest.raises(RefbrowserError, match="link"):
        change_expect(document, lambda file: with_expect(file, {}))


def test_a_larger_one_than_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t2m.json.expect.json"
    with path.open("wb") as file:
        file.truncate(LIMITS.expect_size + 1)
    with pytest.raises(RefbrowserError, match="expect_size"):
        read_expect(path)
