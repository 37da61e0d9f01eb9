"""The verb ``lock``, what it says of files that cannot be looked at, and reads of stale ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from refbrowser.cli.program import main
from refbrowser.io.fetching.lock_format import read_lock

BLOCKED = "https://host.invalid/c"


def write_document(folder: Path, urls: list[str]) -> str:
    array = {
        "zarr_format": 2, "shape": [len(urls), 4], "chunks": [1, 4], "dtype": "|u1",
        "compressor": None, "filters": None, "fill_value": 0, "order": "C",
    }  # fmt: skip
    refs: dict[str, Any] = {".zgroup": '{"zarr_format": 2}', "t/.zarray": json.dumps(array)}
    refs |= {f"t/{number}.0": [url, 0, 4] for number, url in enumerate(urls)}
    path = folder / "doc.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return str(path)


@pytest.fixture
def document(tmp_path: Path) -> str:
    for number, name in enumerate("ab"):
        (tmp_path / name).write_bytes(bytes([number] * 4))
    return write_document(tmp_path, ["a", "b"])


def test_a_lock_is_written_and_reads_are_held_against_it(
    document: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["lock", document]) == 0
    assert capfd.readouterr().out == f"{document}.lock.json: 2 files looked at; 2 in the lock\n"
    assert set(read_lock(f"{document}.lock.json")[0].entries) == {"a", "b"}
    (tmp_path / "b").write_bytes(b"other")
    read = ["read", document, "/t", "--json"]
    assert main(read) == 4
    told = capfd.readouterr()
    assert told.out == ""
    error = json.loads(told.err)["error"]
    assert error["kind"] == "E_SOURCE"
    assert error["message"].startswith("the file is not the one that was locked: 4 bytes then, 5 now")
    assert error["place"]["url"] == "b"
    assert main([*read, "--select", "0"]) == 0
    assert main([*read, "--stale", "allow"]) == 0
    told = capfd.readouterr()
    assert "[111, 116, 104, 101]" in told.out
    assert "warning[E_SOURCE]: the file is not the one that was locked" in told.err
    assert main(["export", document, str(tmp_path / "o.zarr"), "--to", "zarr-v2"]) == 4
    assert main(["cat", document, "t/1.0"]) == 4
    # By its old name.
    assert main(["lock", document, "--accept", "b"]) == 0
    assert "--accept is called --update now" in capfd.readouterr().err
    assert main(read) == 0


def test_what_could_not_be_looked_at_is_told_by_exit_code(
    tmp_path: Path, document: str, capfd: pytest.CaptureFixture[str]
) -> None:
    write_document(tmp_path, ["a", "none", BLOCKED])
    assert main(["lock", document, "--json"]) == 3
    told = capfd.readouterr()
    said = json.loads(told.out)
    assert (said["written"], said["files"], said["looked_at"]) == (True, 1, 1)
    assert [(each["kind"], each["url"]) for each in said["not_locked"]] == [
        ("E_BLOCKED", BLOCKED),
        ("E_IO", str(tmp_path / "none")),
    ]
    assert "reading from https://host.invalid needs permission" in told.err
    # The lock that is there stays, unless it is said that it may lack files.
    before = Path(f"{document}.lock.json").read_bytes()
    assert main(["lock", document]) == 3
    assert "was not written" in capfd.readouterr().err
    assert Path(f"{document}.lock.json").read_bytes() == before
    write_document(tmp_path, ["a", "none"])
    assert main(["lock", document, "--skip-bad"]) == 4
    assert set(read_lock(f"{document}.lock.json")[0].not_locked) == {"none"}


def test_a_lock_goes_elsewhere_on_request(document: str, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    assert main(["lock", document, "-o", str(other)]) == 0
    assert read_lock(other)[0].entries
    assert not Path(f"{document}.lock.json").exists()


def test_check_tells_of_a_lock_that_is_none(document: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path(f"{document}.lock.json").write_text("[")
    assert main(["check", document]) == 0
    assert "the lock beside the document is not used: it is not JSON" in capfd.readouterr().out
    assert main(["read", document, "/t", "--json"]) == 0
    assert "warning[E_JSON]: the lock beside the document is not used" in capfd.readouterr().err


def test_what_is_made_is_locked_on_request(
    document: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out.json")
    assert main(["export", document, out, "--to", "refs-v1", "--lock"]) == 0
    assert len(read_lock(f"{out}.lock.json")[0].entries) == 2
    assert main(["export", document, str(tmp_path / "z"), "--to", "zarr-v2", "--lock"]) == 2
    assert "--lock is for references" in capfd.readouterr().err
    assert not (tmp_path / "z").exists()


def test_explain_tells_what_the_lock_says(
    document: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["lock", document]) == 0
    assert main(["explain", document, "t/0.0"]) == 0
    assert "Compared: the file matches the lock" in capfd.readouterr().out
    (tmp_path / "b").write_bytes(b"other")
    main(["explain", document, "t/1.0", "--stale", "allow", "--json"])
    said = json.loads(capfd.readouterr().out)
    assert said["kind"] == "stale"
    (step,) = (each for each in said["steps"] if each["name"] == "lock")
    assert step["facts"] == {"url": "b", "state": "stale", "mark": "size", "then": "4", "now": "5"}


def test_several_files_are_updated_at_once(document: str, tmp_path: Path) -> None:
    assert main(["lock", document]) == 0
    before = read_lock(f"{document}.lock.json")[0].entries
    for name in "ab":
        (tmp_path / name).write_bytes(b"other")
    assert main(["lock", document, "--update", "a", "b"]) == 0
    after = read_lock(f"{document}.lock.json")[0].entries
    assert {url: (before[url].size, entry.size) for url, entry in after.items()} == {"a": (4, 5), "b": (4, 5)}
