"""``export --to ncstream`` on the command line: options, reports, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from exported_streams import read_by_siphon

from refbrowser.cli import main


@pytest.fixture
def era(shared_data: Path) -> str:
    return str(shared_data / "real" / "eraint_uvz.refs.json")


@pytest.mark.slow
def test_a_compatible_stream_is_written_and_checked(
    era: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "era.ncs"
    command = ["export", era, str(target), "--to", "ncstream", "--stream-profile", "compatible", "--check"]
    assert main([*command, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["chunks"], report["verified"]) == (7, 8)
    assert {loss["path"] for loss in report["losses"]} == {"/z", "/u", "/v"}
    assert report["check"]["equal"] is True
    _, values = read_by_siphon(target)
    assert values["z"].shape == (2, 3, 241, 480)


def test_losses_are_told_once_before_it_begins(
    era: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", era, str(tmp_path / "a.ncs"), "--to", "ncstream", "--array", "/z"]) == 0
    captured = capsys.readouterr()
    assert captured.err.count("note: /z: _FillValue") == 1
    assert "_FillValue" not in captured.out


@pytest.mark.parametrize("profile", ["full", "compatible"])
def test_attributes_of_members_are_shown_and_kept(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], profile: str
) -> None:
    source, target = tmp_path / "source.ncs", tmp_path / "target.ncs"
    parts = [f"ref_tst_compounds.{part}.bin" for part in ("header", "data")]
    content = b"".join((shared_data / "ncstream" / part).read_bytes() for part in parts)
    source.write_bytes(b"CDFS" + content + bytes.fromhex("ededdede"))
    command = ["export", str(source), str(target), "--to", "ncstream", "--stream-profile", profile]
    assert main(command) == 0
    capsys.readouterr()
    for path in (source, target):
        assert main(["info", str(path), "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)["arrays"]["/obs"]["member_attributes"]
        assert shown == {name: {"_FillValue": -99} for name in ("day", "elev", "count", "relhum", "time")}
    assert main(["info", str(target)]) == 0
    assert "      elev\n        :_FillValue = -99\n" in capsys.readouterr().out


@pytest.mark.slow
def test_tiles_codec_and_checksums_can_be_chosen(
    era: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["export", era, str(tmp_path / "a.ncs"), "--to", "ncstream", "--array", "/z"]
    assert main([*command, "--tile-size", "100KiB", "--codec", "deflate:2", "--no-crc32", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["chunks"] == 18
    assert report["copied"] == 0
    assert report["written_bytes"] < 1_400_000
    assert main([*command, "--estimate", "--tile-size", "100KiB"]) == 0
    assert "18 messages" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--to", "ncstream", "--stream-profile", "wide"], "no profile 'wide'"),
        (["--to", "ncstream", "--codec", "zstd"], "no codec 'zstd'"),
        (["--to", "ncstream", "--tile-size", "much"], "not a size"),
        (["--to", "ncstream", "--stream-profile", "compatible", "--tile-size", "1MiB"], "--tile-size"),
        (["--to", "ncstream", "--chunks", "1,1"], "apply to stores"),
        (["--to", "ncstream", "--resume"], "cannot be resumed"),
        (["--to", "zarr-v3", "--crc32"], "only to ncstream"),
        (["--to", "zarr-v3", "--tile-size", "1MiB"], "only to ncstream"),
    ],
)
def test_options_without_a_meaning_are_refused(
    era: str, tmp_path: Path, arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", era, str(tmp_path / "a"), *arguments]) == 2
    assert text in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
