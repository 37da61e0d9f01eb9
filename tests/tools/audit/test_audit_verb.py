"""``audit``: what is told before and after, exit codes, reports; and that `check` is its first level."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from audited_set import HEAD, ROW, STEPS, AuditedSet
from damaged_sets import CHUNKS, DAMAGES, FILES, sound
from servers.http_server import HttpServer

from refbrowser.cli import main
from refbrowser.engine.audit import audit_plan


def test_sound_and_damaged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = sound(tmp_path).write()
    assert main(["audit", str(path), "--level", "full"]) == 0
    told = capsys.readouterr()
    assert "20 requests" in told.err or "asked about" in told.err
    assert told.out.startswith("0 faults, 0 warnings; 10 files asked about; 80 chunks read")
    made = sound(tmp_path)
    DAMAGES["a file that is gone"].make(made)
    path = made.write()
    assert main(["audit", str(path)]) == 0
    capsys.readouterr()
    assert main(["audit", str(path), "--level", "stat"]) == 2
    out = capsys.readouterr().out
    assert f"fault[url-dead] missing file: {2 * CHUNKS} places in f4.bin" in out
    assert "for readers: " in out


def test_a_wrong_template_and_a_shifted_rule_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = AuditedSet(tmp_path)
    made.damage()
    path = str(made.write())
    assert main(["audit", path, "--level", "stat"]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert f"fault[url-dead] missing file: {STEPS} places; can be fixed in the window or with --fix" in lines
    assert (
        f"    /templates/w, line 4: template 'w' names {STEPS} files, 'data/wnd0.bin' first, which do not "
        f"exist: with 'data/w' in place of 'data/wnd' all of them do [{STEPS} of these]"
    ) in lines
    assert not any("wnd1" in line for line in lines)
    assert main(["audit", path, "--level", "stat", "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert told["counts"] == {"range-past-end": 2, "url-dead": STEPS + 2}
    of_texts, moved = (each for each in told["groups"] if each["code"] == "url-dead")
    assert (of_texts["url"], of_texts["count"], of_texts["fixable"]) == (None, STEPS, True)
    (row,) = of_texts["findings"]
    # The shape is that of any other finding.
    assert row.keys() == moved["findings"][0].keys()
    assert (row["pointer"], row["line"], row["count"]) == ("/templates/w", 4, STEPS)
    assert row["fix"] == "Correct template 'w'"
    (shifted,) = (each for group in told["groups"] for each in group["findings"] if each["rule"] is not None)
    assert (shifted["pointer"], shifted["fix"]) == (
        "/gen/1/offset", f"Shift gen rule 1 back by {ROW} bytes",
    )  # fmt: skip
    assert f"(the first {HEAD}, not {HEAD + ROW})" in shifted["advice"]


def test_warnings_fail_where_they_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = sound(tmp_path)
    DAMAGES["chunks that are missing"].make(made)
    path = str(made.write())
    for arguments, code in (
        ([], 0),
        (["--fail-on", "missing-chunks"], 2),
        (["--fail-on", "warning"], 2),
        (["--fail-on", "url-dead"], 0),
        (["--fail-on", "url-dead", "--fail-on", "missing-chunks"], 2),
    ):
        assert main(["audit", path, *arguments]) == code, arguments
    assert main(["audit", path, "--fail-on", "nonsense"]) == 2
    assert "no findings of the code 'nonsense'" in capsys.readouterr().err


@pytest.mark.parametrize("name", [name for name, each in DAMAGES.items() if each.level == "set"])
def test_check_is_the_first_level(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = sound(tmp_path)
    DAMAGES[name].make(made)
    path = str(made.write())
    assert main(["check", path, "--json"]) == main(["audit", path, "--json"])
    checked, audited = map(json.loads, capsys.readouterr().out.splitlines())
    messages = {each["message"] for each in checked["faults"] + checked["warnings"]}
    assert messages == {each["message"] for group in audited["groups"] for each in group["findings"]}


def test_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = sound(tmp_path)
    DAMAGES["a file that is gone"].make(made)
    names = [str(tmp_path / f"r.{ending}") for ending in ("html", "json", "csv")]
    arguments = [part for name in names for part in ("--report", name)]
    assert main(["audit", str(made.write()), "--level", "stat", *arguments]) == 2
    page, text, table = (Path(name).read_text() for name in names)
    assert "url-dead" in page
    assert json.loads(text)["exit_code"] == 2
    (row,) = csv.DictReader(table.splitlines())
    assert row["code"] == "url-dead"
    assert main(["audit", str(made.write()), "--report", str(tmp_path / "r.txt")]) == 2
    assert "neither .html, .json, .csv nor .md" in capsys.readouterr().err


def test_permissions_are_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with HttpServer(root=tmp_path / "files") as server:
        made = sound(tmp_path / "files", server.url("/"))
        made.folder = tmp_path
        path = str(made.write())
        assert main(["audit", path, "--level", "stat", "--json"]) == 3
        told = capsys.readouterr()
        assert server.requests == []
        (blocked,) = json.loads(told.out)["blocked"]
        assert blocked["urls"] == FILES
        assert f"--allow {server.origin}" in told.err
        assert main(["audit", path, "--level", "stat", "--allow", server.origin]) == 0
        # Faults count more than permissions that are missing.
        DAMAGES["an impossible chunk length"].make(made)
        assert main(["audit", str(made.write()), "--level", "stat"]) == 2


def test_large_audits_are_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_plan, "MOST_REQUESTS", 5)
    path = str(sound(tmp_path).write())
    assert main(["audit", path, "--level", "stat"]) == 2
    told = capsys.readouterr().err
    assert "10 files asked about" in told
    assert "; less than a second at the known speed of the link" in told
    assert main(["audit", path, "--level", "stat", "--yes"]) == 0


def test_what_cannot_be_opened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "d.json").write_text("{")
    assert main(["audit", str(tmp_path / "d.json")]) == 2
    assert main(["audit", str(tmp_path / "none.json")]) == 6
    assert "error[E_JSON]" in capsys.readouterr().err
