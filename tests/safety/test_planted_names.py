"""Links planted where the program writes beside a document or target: nothing is written through them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from refbrowser.cli import console
from refbrowser.cli.program import main
from refbrowser.exporting.journal import NAME
from refbrowser.exporting.paths import ignores_case
from refbrowser.io.processes import start_mark

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links of POSIX")


@pytest.fixture
def document(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "values").write_bytes(bytes(4))
    array = {
        "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "|u1", "compressor": None, "filters": None,
        "fill_value": 0, "order": "C",
    }  # fmt: skip
    refs = {".zgroup": '{"zarr_format": 2}', "t/.zarray": json.dumps(array), "t/0": ["values", 0, 2]}
    path = folder / "doc.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return path


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim"
    path.write_bytes(b"precious")
    return path


def test_a_lock_is_not_written_through_a_link(
    document: Path, victim: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lock = Path(f"{document}.lock.json")
    lock.symlink_to(victim)
    assert main(["lock", str(document)]) == 2
    assert "the path is a link, which is not followed" in capfd.readouterr().err
    assert victim.read_bytes() == b"precious"
    lock.unlink()
    lock.symlink_to(victim.with_name("nothing"))
    assert main(["lock", str(document)]) == 2
    assert not victim.with_name("nothing").exists()
    # A file that the user names is the user's own affair.
    link = victim.with_name("link.json")
    link.symlink_to(victim)
    assert main(["lock", str(document), "-o", str(link)]) == 0
    assert link.is_symlink()
    assert b'"files"' in victim.read_bytes()


def test_conflicts_are_not_written_through_a_link(document: Path, victim: Path) -> None:
    sides = []
    for number in (1, 2):
        side = document.with_name(f"{number}.json")
        side.write_text(document.read_text().replace('["values", 0, 2]', f'["values", {number}, 2]'))
        sides.append(str(side))
    conflicts = document.with_name("doc.json.conflicts.json")
    conflicts.symlink_to(victim)
    out = ["-o", str(document.with_name("out.json")), "--conflicts", str(conflicts)]
    assert main(["merge", str(document), *sides, *out]) != 0
    assert victim.read_bytes() == b"precious"


EXPORT = ["--to", "zarr-v2", "--resume"]


@pytest.mark.parametrize("plant", [os.symlink, os.link])
def test_the_journal_of_an_export_is_not_written_through_a_link(
    document: Path, victim: Path, plant: object, capfd: pytest.CaptureFixture[str]
) -> None:
    partial = document.with_name(".out.zarr.refbrowser-partial")
    partial.mkdir()
    plant(victim, partial / NAME)  # type: ignore[operator]
    export = ["export", str(document), str(document.with_name("out.zarr")), "--to", "zarr-v2"]
    assert main([*export, "--resume"]) == 2
    assert "omit --resume to start over" in capfd.readouterr().err
    assert victim.read_bytes() == b"precious"
    assert main(export) == 0
    assert victim.read_bytes() == b"precious"
    assert not partial.exists()


@pytest.mark.parametrize("options", [["--zip"], []])
def test_the_folder_of_an_export_is_not_followed(document: Path, tmp_path: Path, options: list[str]) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "t").mkdir()
    document.with_name(".out.refbrowser-partial").symlink_to(home)
    export = ["export", str(document), str(document.with_name("out")), *EXPORT, *options]
    assert main(export) == 0
    assert sorted(os.listdir(home)) == ["t"]


@pytest.mark.parametrize(
    ("options", "planted"),
    [
        (["--to", "zarr-v2", "--zip"], "store.zip"),
        (["--to", "zarr-v2"], ".zgroup"),
        (["--to", "netcdf4"], "made.nc"),
        (["--to", "parquet"], "table.parquet"),
        (["--to", "awkward0"], "archive"),
    ],
)
@pytest.mark.parametrize("plant", [os.symlink, os.link])
def test_what_an_export_makes_is_not_written_through_links(
    document: Path, victim: Path, options: list[str], planted: str, plant: object
) -> None:
    partial = document.with_name(".out.refbrowser-partial")
    partial.mkdir()
    plant(victim, partial / planted)  # type: ignore[operator]
    main(["export", str(document), str(document.with_name("out")), *options, "--resume"])
    assert victim.read_bytes() == b"precious"


def test_a_probe_of_a_folder_is_not_written_through_a_link(tmp_path: Path) -> None:
    assert not ignores_case(tmp_path)
    (tmp_path / f".refbrowser-case-{os.getpid()}").symlink_to(tmp_path / "elsewhere")
    assert not ignores_case(tmp_path)
    assert not (tmp_path / "elsewhere").exists()


def test_the_log_of_errors_is_of_the_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, victim: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    log = tmp_path / "state" / "refbrowser" / "errors.log"
    for _ in range(2):
        try:
            raise ValueError("https://host/secret")
        except ValueError:
            console.tell_internal_error()
        assert log.stat().st_mode & 0o777 == 0o600
        log.chmod(0o644)
    assert log.read_text().count("incident ") == 2
    log.unlink()
    log.symlink_to(victim)
    try:
        raise ValueError("https://host/secret")
    except ValueError:
        console.tell_internal_error()
    assert "its log could not be written" in capfd.readouterr().err
    assert victim.read_bytes() == b"precious"


# Journals that are not ours


def planted(document: Path, data: bytes) -> list[str]:
    partial = document.with_name(".out.zarr.refbrowser-partial")
    partial.mkdir()
    (partial / NAME).write_bytes(data)
    return ["export", str(document), str(document.with_name("out.zarr")), "--to", "zarr-v2"]


@pytest.mark.skipif(not start_mark(os.getpid()), reason="processes have no marks of their start here")
@pytest.mark.parametrize("more", [{}, {"start": "1"}, {"start": 1}])
def test_a_number_alone_is_no_process_that_writes(document: Path, more: dict[str, object]) -> None:
    line = {"refbrowser_export": 1, "fingerprint": "x", "pid": os.getppid(), **more}
    assert main(planted(document, json.dumps(line).encode() + b"\n")) == 0


def test_a_process_that_writes_is_known_by_its_mark(
    document: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other = os.getppid()
    line = {"refbrowser_export": 1, "fingerprint": "x", "pid": other, "start": start_mark(other)}
    assert main(planted(document, json.dumps(line).encode() + b"\n")) == 4
    assert "another export is writing this target" in capfd.readouterr().err


@pytest.mark.parametrize("resume", [[], ["--resume"]])
@pytest.mark.parametrize(
    "data",
    [
        b"[" * 200_000,
        b'{"key": []}\n',
        b'{"fingerprint": 1}\n',
        b'{"key": "a", "size": -1}',
        b'{"pid": true}',
    ],
)
def test_a_journal_may_hold_anything(document: Path, data: bytes, resume: list[str]) -> None:
    assert main([*planted(document, data), *resume]) in (0, 2)


@pytest.mark.parametrize("resume", [[], ["--resume"]])
def test_a_journal_may_be_huge(document: Path, resume: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    export = planted(document, b"")
    os.truncate(document.with_name(".out.zarr.refbrowser-partial") / NAME, 6 << 30)
    assert main([*export, *resume]) == (2 if resume else 0)
    assert "E_INTERNAL" not in capfd.readouterr().err
