"""What is listed for a pattern of files: folders that may be read, however a stranger writes the pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from refbrowser.engine.expectations import file_holding
from refbrowser.engine.expectations.file_holding import hold_listing
from refbrowser.engine.expectations.holding import Held
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind
from refbrowser.findings.finding import Finding
from refbrowser.io.access.access import Access
from refbrowser.limits import LIMITS
from refbrowser.references.expectations.expectation import ExpectedAxis

NOW = datetime(2020, 1, 5, tzinfo=UTC)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The folder of a document, beside one that is not its own."""
    for name in ("own/2015", "other/2015"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("own/a_2015.nc", "own/2015/a_2015.nc", "other/secret", "other/2015/secret"):
        (tmp_path / name).touch()
    return tmp_path / "own"


def _found(base: str, access: Access, files: str) -> list[Finding]:
    axis = ExpectedAxis.parse(f"every year from 2015 to 2016 in {files}")
    return [*hold_listing(base, access, axis, Held(), JobControl(), NOW)]


def _told(folder: Path, files: str) -> Sequence[str]:
    access = Access.for_document(folder / "set.json")
    return [finding.message.partition(": ")[2] for finding in _found(f"{folder}/", access, files)]


def test_what_is_in_the_folder(own: Path) -> None:
    assert _told(own, "a_{time:%Y}.nc") == [
        "no file of 1 of 2 years: 2016",
        "1 file not expected: 2015",
    ]
    assert _told(own, "{time:%Y}/a_*.nc") == ["no file of 1 of 2 years: 2016"]


@pytest.mark.parametrize(
    "files",
    [
        "{time:%Y}/../../other/{time:%Y}",
        "*/../../other/{time:%Y}*",
        "link/{time:%Y}",
        "*/secret*{time:%Y}",
        "l*/2015/{time:%Y}",
        "../other/{time:%Y}",
    ],
)
def test_nothing_is_listed_outside_of_the_folder(own: Path, files: str) -> None:
    (own / "link").symlink_to(own.parent / "other")
    assert "secret" not in repr(_told(own, files))


def test_a_relative_path_of_a_document_leads_to_no_other_folder(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(own.parent)
    access = Access.for_document("own/set.json")
    (finding,) = _found("own/", access, "../other/{time:%Y}")
    assert finding.kind is ErrorKind.BLOCKED


def test_a_document_of_a_server_has_nothing_listed_here(own: Path) -> None:
    access = Access.for_document("https://127.0.0.1:9/set.json")
    (finding,) = _found("https://127.0.0.1:9/", access, f"{own.parent}/other/{{time:%Y}}*")
    assert "secret" not in finding.message
    assert finding.kind is ErrorKind.UNSAFE


def test_links_that_lead_back_are_followed_once(own: Path) -> None:
    for name in ("one", "two"):
        (own / name).symlink_to(own)
    assert _told(own, "*/" * 40 + "a_{time:%Y}.nc") == [
        "no file of 1 of 2 years: 2016",
        "several files of 1 year: 2015",
        "3 files not expected: 2015, one, two",
    ]


def test_what_is_looked_at_has_a_limit(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_holding, "LIMITS", replace(LIMITS, expect_files=2))
    (told,) = _found(f"{own}/", Access.for_document(own / "set.json"), "b/a_{time:%Y}.nc")
    assert told.code == "expected-missing"
    (own / "b").touch()
    (told,) = _found(f"{own}/", Access.for_document(own / "set.json"), "a_{time:%Y}.nc")
    assert "(expect_files)" in told.message
