"""Permissions given always."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from refbrowser.io.files.permissions import NOTHING, Grant, Permissions
from refbrowser.io.identity import FileIdentity, ObjectIdentity
from refbrowser.io.origins import Origin

HOST, BUCKET = Origin.parse("https://data.example"), Origin.parse("s3://bucket")
STATE = FileIdentity(1, 2, 300, 400)
ONE = Grant(frozenset({HOST}))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "permissions.json"


def test_a_permission_is_found_again(file: Path) -> None:
    grant = Grant(frozenset({HOST, BUCKET, Origin("file", folder="/data")}), frozenset({HOST}))
    Permissions(file).keep("/d/doc.json", STATE, grant)
    kept = Permissions(file)
    assert kept.granted("/d/doc.json", STATE, [HOST, Origin("file", folder="/data/deep")]) == grant
    assert kept.granted("/d/other.json", STATE, [HOST]) == NOTHING


def test_packages_are_found_again_and_older_files_have_none(file: Path) -> None:
    grant = Grant(frozenset(), lenders=frozenset({"made", "other"}))
    Permissions(file).keep("/d/doc.json", STATE, grant)
    assert Permissions(file).granted("/d/doc.json", STATE, []) == grant
    content = json.loads(file.read_text())
    del content["documents"]["/d/doc.json"]["lenders"]
    file.write_text(json.dumps(content))
    assert Permissions(file).granted("/d/doc.json", STATE, []) == NOTHING


def test_more_origins_ask_again(file: Path) -> None:
    Permissions(file).keep("/d/doc.json", STATE, ONE)
    assert Permissions(file).granted("/d/doc.json", STATE, [HOST, BUCKET]) == NOTHING


def test_a_change_by_others_asks_again_and_a_save_does_not(file: Path) -> None:
    permissions, later = Permissions(file), FileIdentity(1, 9, 301, 500)
    permissions.keep("/d/doc.json", STATE, ONE)
    assert permissions.granted("/d/doc.json", later, [HOST]) == NOTHING
    permissions.saved("/d/doc.json", STATE, later)
    assert permissions.granted("/d/doc.json", later, [HOST]) != NOTHING
    permissions.saved("/d/doc.json", STATE, FileIdentity(1, 9, 302, 600))
    assert permissions.granted("/d/doc.json", later, [HOST]) != NOTHING


def test_a_document_from_the_network(file: Path) -> None:
    url, state = "https://data.example/doc.json", ObjectIdentity(10, '"a"', None)
    Permissions(file).keep(url, state, Grant(frozenset({BUCKET})))
    assert Permissions(file).granted(url, state, [BUCKET]) != NOTHING
    assert Permissions(file).granted(url, ObjectIdentity(10, '"b"', None), [BUCKET]) == NOTHING


def test_forgetting(file: Path) -> None:
    permissions = Permissions(file)
    permissions.keep("/d/doc.json", STATE, ONE)
    permissions.forget("/d/doc.json")
    assert permissions.granted("/d/doc.json", STATE, [HOST]) == NOTHING


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"\xff", b'{"version": 2, "documents": {}}', b'{"version": 1, "documents": []}',
        b'{"version": 1, "documents": {"/d/doc.json": 1}}',
        b'{"version": 1, "documents": {"/d/doc.json": {"state": ["file", 300, 400]}}}',
        b'{"version": 1, "documents": {"/d/doc.json":'
        b' {"state": ["file", 300, 400], "origins": [["https"]], "private": []}}}',
        b'{"version": 1, "documents": {"/d/doc.json":'
        b' {"state": ["file", 300, 400], "origins": 5, "private": []}}}',
    ],
)  # fmt: skip
def test_a_damaged_file_allows_nothing(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    assert Permissions(file).granted("/d/doc.json", STATE, [HOST]) == NOTHING
    Permissions(file).keep("/d/doc.json", STATE, ONE)
    assert Permissions(file).granted("/d/doc.json", STATE, [HOST]) != NOTHING


def test_the_default_file_is_in_the_users_state_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    Permissions().keep("/d/doc.json", STATE, ONE)
    assert (tmp_path / "refbrowser" / "permissions.json").is_file()
