"""The table of formats, what speaks for each, and a format of another package in one file."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
import numpy.typing as npt
import pytest
from fixture_format import GRID, GridOptions, GridTarget, found, written_grid
from PySide6.QtWidgets import QLabel, QSpinBox
from pytestqt.qtbot import QtBot
from servers.http_server import HttpServer

import refbrowser
from refbrowser.app.dialogs.export_options import OptionsForm
from refbrowser.app.dialogs.manual_window import read_page
from refbrowser.app.widgets.dropped_items import Drop
from refbrowser.app.widgets.file_filters import open_filter
from refbrowser.cli.program import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.exporter import estimate_export, run_export
from refbrowser.exporting.option_fields import ExportOptions, chosen_options, group_of, groups
from refbrowser.exporting.request import ExportRequest
from refbrowser.formats.format import Format, Score, Seen
from refbrowser.formats.option_fields import Kind, declared, documented, option
from refbrowser.formats.registry import (
    AWKWARD0,
    BUILT_IN,
    REFERENCES,
    SERVICE,
    STREAM,
    ZARR,
    foreign,
    openable,
    opening_options,
    written,
)
from refbrowser.formats.sniffing import DOCUMENTS
from refbrowser.formats.store_rules import RULES

VALUES = np.arange(12.0).reshape(3, 4)
NOT_A_FORMAT = 3
TAKEN = Format(name=STREAM.name, title="x", holds="x", opener="x:y", begins=(b"CDFS",))


def broken(opening: object) -> object:
    """Fail as foreign code does."""
    raise ZeroDivisionError("1/0")


BROKEN = Format(name="broken", title="Broken", holds="nothing", opener=f"{__name__}:broken", begins=(b"BRK",))


@pytest.fixture
def grid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with found(monkeypatch, "fixture_format:GRID"):
        yield str(written_grid(tmp_path / "a.grid", VALUES))


def best(seen: Seen) -> tuple[str, Score]:
    """Return the format of the best score, the first of several."""
    scores = {each.name: each.score(seen) for each in BUILT_IN if each.opener}
    name = max(scores, key=lambda each: scores[each])
    return name, scores[name]


def test_what_speaks_for_formats(tmp_path: Path) -> None:
    for path, name, score in (
        ("https://h/a.json", REFERENCES, Score.FIRST),
        ("https://h/a", REFERENCES, Score.FIRST),
        ("https://h/a.zarr?x=y.ncs", ZARR, Score.KIND),
        ("s3://b/a/", ZARR, Score.KIND),
        ("https://h/a.zip", ZARR, Score.KIND),
        ("https://h/A.NCS", STREAM, Score.SUFFIX),
        ("https://h/a.awkd/", AWKWARD0, Score.SUFFIX),
        ("https://h/thredds/cdmremote/a.ncs", SERVICE, Score.PLACE),
        ("cdmremote:https://h/a.zarr", SERVICE, Score.SCHEME),
    ):
        assert best(Seen.of(path)) == (name.name, score), path
    for file, head, name, score in (
        ("a.txt", b" \n{", REFERENCES, Score.KIND),
        ("a.ncs", b"{}", REFERENCES, Score.KIND),
        ("b.ncs", b"?", STREAM, Score.SUFFIX),
        ("a.json", b"CDFS", STREAM, Score.MAGIC),
        ("a.bin", b"PK\x03\x04", ZARR, Score.KIND),
        ("a.awkd", b"PK\x03\x04", AWKWARD0, Score.SUFFIX),
        ("a.h5", b"\x89HDF\r\n\x1a\n", AWKWARD0, Score.PERHAPS),
        ("a.text", b"text", REFERENCES, Score.LIKELY),
    ):
        (tmp_path / file).write_bytes(head)
        assert best(Seen.of(str(tmp_path / file))) == (name.name, score), file
    assert best(Seen.of(str(tmp_path))) == (ZARR.name, Score.KIND)
    assert best(Seen.of(str(tmp_path / "none.ncs"))) == (REFERENCES.name, Score.FIRST)


def test_a_url_is_asked_for_no_more_than_it_may_be(server_of_pages: HttpServer) -> None:
    def asked(name: str) -> list[str]:
        server_of_pages.requests.clear()
        with pytest.raises(RefbrowserError):
            refbrowser.open(server_of_pages.url(name))
        return [request.path for request in server_of_pages.requests]

    assert len(set(asked("/none.ncs"))) == 1
    assert len(set(asked("/none.zip"))) == 1
    assert all(path.startswith("/none.zarr/") for path in asked("/none.zarr"))
    paths = asked("/page")
    assert (paths[0], paths[-1]) == ("/page", "/page?req=header")
    assert all(path.startswith("/page/") for path in paths[1:-1])
    paths = asked("/x/cdmremote/page")
    assert paths[:2] == ["/x/cdmremote/page?req=header", "/x/cdmremote/page"]
    assert paths.count("/x/cdmremote/page?req=header") == 1
    # What its first bytes say ends the search.
    assert set(asked("/data")) == {"/data"}
    # Whoever knows most of what is there says what is told.
    with pytest.raises(RefbrowserError, match="there is no store here") as caught:
        refbrowser.open(server_of_pages.url("/archive"))
    assert "zarr.json" in caught.value.advice


def test_a_folder_of_files_says_what_is_in_it_and_what_to_do(tmp_path: Path) -> None:
    folder = tmp_path / "days"
    folder.mkdir()
    (folder / "notes.txt").write_text("x")
    with pytest.raises(RefbrowserError, match="there is no store here"):
        refbrowser.open(folder)
    (folder / "old.json").write_text("{}")
    with pytest.raises(RefbrowserError, match=r"reference documents \('old.json'\) ") as caught:
        refbrowser.open(folder)
    assert caught.value.advice == f"open one of them, '{folder / 'old.json'}'"
    for day in (2, 1):
        (folder / f"day{day}.nc").write_bytes(b"CDF")
    with pytest.raises(RefbrowserError, match="not a dataset; it holds 2 files of data and what") as caught:
        refbrowser.open(folder)
    assert f"open one of them, '{folder / 'day1.nc'}'" in caught.value.advice
    assert f"refbrowser make '{folder / '*.nc'}' -o ALL.json --concat DIM" in caught.value.advice


@pytest.fixture
def server_of_pages() -> Iterator[HttpServer]:
    page = b"<!doctype html><html></html>"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", "text")
    files = {
        "/archive": packed.getvalue(),
        "/page": page,
        "/x/cdmremote/page": page,
        "/data": b"\x89HDF\r\n\x1a\n" + bytes(99),
    }
    with HttpServer(files) as server:
        yield server


def test_a_file_that_is_none_of_what_it_is_called_is_told_so(tmp_path: Path) -> None:
    for name, data, words in (
        (
            "a.nc",
            b"\x01\xff" * 200,
            "has no known format, though its name is that of netCDF classic or",
        ),
        ("a.tif", b"hello\n", "the file holds text, though its name is that of TIFF"),
        ("b.nc", b"", "the file is empty, though"),
        ("b.h5", b"<html>not found</html>", "the file is a web page, though its name is that of HDF5"),
        ("a.json", b"hello\n", "a value is expected"),
        ("a.bin", b"\x9d\x80\xff\0\1", "the file has no known format"),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(RefbrowserError) as caught:
            refbrowser.open(path)
        assert words in str(caught.value), name
        assert "UTF-8" not in str(caught.value), name
    path = tmp_path / "b.json"
    path.write_bytes('{"version": 1}'.encode("utf-16"))
    with pytest.raises(RefbrowserError, match="the document is not UTF-8"):
        refbrowser.open(path)


def test_all_that_the_table_names_is_there() -> None:
    for each in BUILT_IN:
        names = [each.opener, *each.facets.values()]
        names += [name for form in each.writes for name in (form.target, form.layout)]
        assert all(callable(resolve_name(name)) for name in filter(None, names)), each.name
    for rules in RULES.values():
        assert all(resolve_name(name) for name in filter(None, (rules.hierarchy, rules.documents)))
    assert set(DOCUMENTS) <= set(REFERENCES.suffixes)
    for form in written().values():
        assert form.options == "" or issubclass(resolve_name(form.options), ExportOptions), form.name


def test_every_option_is_in_api_help_and_manual(capsys: pytest.CaptureFixture[str]) -> None:
    manual = read_page("export").text
    for group in groups():
        name = next(name for name, form in written().items() if group_of(form) is group)
        assert main(["export", "--to", name, "--help"]) == 0
        told = capsys.readouterr().out
        attributes = (group.__doc__ or "").partition("----------")[2].splitlines()
        assert [each for each in attributes if each and each[0] != " "] == list(declared(group))
        assert [each.name for each in fields(group)] == list(declared(group)), "what is no option is no field"
        assert group.heading.split()[-1] in told
        for each in declared(group).values():
            assert f"{each.flag} {each.metavar}".strip() in told
            assert f"| `{each.flag} {each.metavar}".strip() + "` |" in manual
            assert each.words in manual


def test_every_option_of_opening_is_in_help_and_manual(grid: str, capsys: pytest.CaptureFixture[str]) -> None:
    known = opening_options(openable())
    assert list(known) == [
        "flavour",
        "branch",
        "tag",
        "snapshot",
        "byte_order",
        "until",
        "allow_functions",
        "grib",
        "messages",
        "skip",
    ]
    manual = read_page("command_line").text
    for command in (["read", "--help"], ["export", "--help"], ["--help"]):
        assert main(command) == 0
        told = capsys.readouterr().out
        for each in known.values():
            assert f"{each.flag} {each.metavar}".strip() in told, command
            assert f"| `{each.flag}" in manual


def test_an_option_of_opening_belongs_to_its_format(
    grid: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", grid, "/values", "--json", "--grid-skip", "2"]) == 0
    assert json.loads(capsys.readouterr().out) == [[8, 9, 10, 11]]
    with refbrowser.open(grid, skip=1) as dataset:
        assert dataset["/values"].shape == (2, 4)
    document = str(tmp_path / "a.json")
    Path(document).write_text(json.dumps({".zgroup": json.dumps({"zarr_format": 2})}))
    for command, said in (
        (["info", document, "--grid-skip", "2"], "--grid-skip (skip) does not apply to Reference "),
        (["info", grid, "--until", "2"], "--until (until) does not apply to Text grid"),
        (["info", document, "--byte-order", "big"], "formats with it: ncstream, CDM Remote"),
        (["info", document, "--allow-function", "bz2.*"], "formats with it: Awkward 0"),
        (["info", grid, "--grid-skip", "-1"], "'-1' is not a number from 0 to 2147483647 (--grid-skip)"),
        (["info", grid, "--grid-skp", "1"], "unrecognized arguments: --grid-skp"),
    ):
        assert main(command) == 2, command
        told = capsys.readouterr().err
        assert told.startswith("refbrowser: error[E_USAGE]: "), command
        assert said in told
        assert told.count("\n") == 1
    with pytest.raises(RefbrowserError, match="'skp' is not an option of opening"):
        refbrowser.open(grid, skp=1)


def test_the_manual_names_every_format() -> None:
    commands = read_page("command_line").text
    row = next(line for line in commands.splitlines() if line.startswith("| ") and "--to FORMAT" in line)
    opens, exports = read_page("index").text, read_page("export").text
    assert refbrowser.export.__doc__ is not None
    for name in written():
        assert f"`{name}`" in row, name
        assert f"`{name}`" in exports, name
        assert f"``{name}``" in refbrowser.export.__doc__, name
    dropped = Drop(()).words(False)[1]
    for format in openable():
        assert format.title.lower() in opens.lower(), format.name
        assert not format.suffixes or format is REFERENCES or format.title in dropped, format.name
        assert not format.begins or f"`{format.suffixes[0]}`" in opens, format.name
    for flavour in RULES:
        assert f"``{flavour}``" in (refbrowser.open.__doc__ or "")


def test_a_format_of_another_package(grid: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It opens, is explained, exported, and named in dialogs, drops and help."""
    with refbrowser.open(grid) as dataset:
        assert dataset.format == "textgrid"
        assert np.array_equal(dataset["/values"][...], VALUES)
        for number, to in enumerate(("zarr-v3", "refs-v0", "ncstream")):
            target = tmp_path / f"{number}{written()[to].suffix}"
            run_export(dataset, ExportRequest(str(target), to))
            with refbrowser.open(str(target)) as again:
                assert np.array_equal(again["/values"][...], VALUES), to
    assert main(["explain", grid, "--array", "/values", "--index", "1,2"]) == 0
    assert "6.0" in (told := capsys.readouterr().out)
    assert os.path.basename(grid) in told
    assert main(["check", grid]) == 0
    assert main(["cat", grid, "none"]) == 2
    assert main(["--help"]) == 0
    assert "Text grid (.grid)" in capsys.readouterr().out
    assert "Text grid files (*.grid)" in open_filter()
    assert "*.grid" in open_filter().partition(";;")[0]
    assert Drop(("x/a.grid",)).words(False)[0] == "Open: the Text grid file a.grid"
    assert "| Text grid (.grid) | drop it" in read_page("index").text


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledOptions(GridOptions):
    """How a grid is written, with one more option."""

    factor: int = field(
        default=1,
        metadata=option(
            "--grid-factor NUMBER",
            "by which all numbers of a grid are multiplied",
            kind=Kind.NUMBER,
            limits=(1, 100),
            unit="times",
            title="Factor of the grid",
        ),
    )


class ScaledTarget(GridTarget):
    """A grid whose numbers are multiplied."""

    def values(self) -> npt.NDArray[np.float64]:
        return super().values() * self.request.chosen(ScaledOptions).factor


SCALED = replace(
    GRID,
    writes=(replace(GRID.writes[0], target=f"{__name__}:ScaledTarget", options=f"{__name__}:ScaledOptions"),),
)


def test_a_format_of_another_package_is_written(
    grid: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], qtbot: QtBot
) -> None:
    """It is in ``--to``, in the dialog and in the manual; exported and refused as the others are."""
    target = tmp_path / "b.grid"
    assert list(written())[-1] == "textgrid"
    ranks = [each.rank for form in BUILT_IN for each in form.writes]
    assert len(set(ranks)) == len(ranks)
    assert main(["export", "--help"]) == 0
    told = capsys.readouterr().out
    assert "feather or textgrid" in " ".join(told.split())
    assert "how textgrid is written" in told
    assert "| `textgrid` | Text grid, one array |" in read_page("export").text
    assert main(["export", grid, str(target), "--to", "textgrid", "--grid-decimals", "0"]) == 0
    assert "12 numbers" in capsys.readouterr().out
    assert target.read_bytes() == Path(grid).read_bytes()
    assert main(["export", grid, str(target), "--to", "textgrid"]) == 7
    assert "the target exists already" in capsys.readouterr().err
    for arguments, words in (
        (("--to", "textgrid", "--force", "--grid-decimals", "16"), "not a number from 0 to 15"),
        (("--to", "textgrid", "--force", "--chunks", "2,2"), "apply to stores"),
        (("--to", "zarr-v3", "--grid-decimals", "2"), "chosen for textgrid only"),
        (("--to", "textgrid", "--force", "--check"), "only stores and streams can be checked"),
    ):
        assert main(["export", grid, str(target), *arguments]) == 2, arguments
        assert words in capsys.readouterr().err, arguments
    with refbrowser.open(grid) as dataset:
        report = refbrowser.export(dataset, target, format="textgrid", force=True)
        assert (report.arrays, report.chunks, report.verified) == (1, 12, 12)
        cost = estimate_export(dataset, ExportRequest(str(target), "textgrid"))
        assert (cost.chunks, cost.target_bytes) == (12, 96)
    form = OptionsForm(GridOptions)
    qtbot.addWidget(form)
    form.set_format(written()["textgrid"])
    decimals = form.findChild(QSpinBox, "exportGridDecimals")
    assert (decimals.suffix(), decimals.maximum(), decimals.accessibleName()) == (
        " digits",
        15,
        "Decimals of the grid",
    )
    assert "&Decimals" in [label.text() for label in form.findChildren(QLabel)]


def test_a_new_field_is_an_option_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], qtbot: QtBot
) -> None:
    source, target = str(written_grid(tmp_path / "a.grid", VALUES)), tmp_path / "b.grid"
    with found(monkeypatch, f"{__name__}:SCALED"):
        refbrowser.export(source, target, format="textgrid", options=ScaledOptions(factor=3))
        with refbrowser.open(target) as dataset:
            assert np.array_equal(dataset["/values"][...], VALUES * 3)
        command = ["export", source, str(target), "--to", "textgrid", "--force", "--grid-factor"]
        assert main([*command, "2"]) == 0
        with refbrowser.open(target) as dataset:
            assert np.array_equal(dataset["/values"][...], VALUES * 2)
        assert main([*command, "101"]) == 2
        capsys.readouterr()
        assert main(["export", "--to", "textgrid", "--help"]) == 0
        assert "--grid-factor NUMBER" in capsys.readouterr().out
        row = "| `--grid-factor NUMBER` | by which all numbers of a grid are multiplied |"
        assert row in read_page("export").text
        assert "factor\n    By which all numbers of a grid are multiplied." in (ScaledOptions.__doc__ or "")
        form = OptionsForm(ScaledOptions)
        qtbot.addWidget(form)
        form.set_format(written()["textgrid"])
        form.findChild(QSpinBox, "exportGridFactor").setValue(7)
        assert "Factor of the grid" in [label.text() for label in form.findChildren(QLabel)]
        options = chosen_options(written()["textgrid"], form.said(), "x.grid")
        assert options == ScaledOptions(factor=7)


def test_errors_of_other_packages_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "b.txt").write_text("BRK")
    (tmp_path / "0.grid").write_bytes(b"GRID \n")
    own = [f"{__name__}:{name}" for name in ("NOT_A_FORMAT", "TAKEN", "BROKEN")]
    with found(monkeypatch, "no_such_module:X", *own, "fixture_format:GRID"):
        assert [each.name for each in foreign().values] == ["broken", "textgrid"]
        with pytest.raises(RefbrowserError) as caught:
            refbrowser.open(str(tmp_path / "a.txt"))
        for what in ("no_such_module", "it is not a Format", "a format ncstream exists already"):
            assert what in caught.value.advice
        assert main(["--help"]) == 0
        assert "no_such_module" in capsys.readouterr().out
        for name, words in (("b.txt", "ZeroDivisionError"), ("0.grid", "at least one side")):
            with pytest.raises(RefbrowserError, match=words) as caught:
                refbrowser.open(str(tmp_path / name))
            assert caught.value.kind is ErrorKind.FORMAT


def test_others_are_not_looked_for_where_a_format_is_sure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.grid").write_text('{"version": 1, "refs": {".zgroup": "{\\"zarr_format\\": 2}"}}')
    with found(monkeypatch, "fixture_format:GRID"):
        with refbrowser.open(str(tmp_path / "a.grid")) as dataset:
            assert dataset.format == "refs-v1"
        assert foreign.cache_info().currsize == 0
