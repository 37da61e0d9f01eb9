"""Indexes of GRIB files give the references that the files themselves give, and most messages stay unread."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from grib_inventory import mars_lines, wgrib2_lines
from grib_made import message, own_values
from servers.http_server import HttpServer

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.grib_index.inventory import read_inventory, with_lengths
from refbrowser.formats.grib_index.opening import places_beside
from refbrowser.formats.library import grib_indexed
from refbrowser.limits import Limits

eccodes = pytest.importorskip("eccodes")

Lines = Callable[[Path], list[str]]
_SIDES = {"Ni": 4, "Nj": 3, "latitudeOfFirstGridPointInDegrees": 60, "longitudeOfFirstGridPointInDegrees": 0}
_SIDES |= {"latitudeOfLastGridPointInDegrees": 56, "longitudeOfLastGridPointInDegrees": 6}
POINTS = 12


def field(number: int, sample: str = "regular_ll_pl_grib2", **keys: Any) -> bytes:
    values = np.arange(POINTS, dtype=float) + 100 * number
    return message(sample, values, **_SIDES | keys)


def forecast(dates: tuple[int, ...] = (20240131, 20240229), members: int = 3) -> list[bytes]:
    """Return messages of levels, steps, members, intervals and dates, as forecasts have them."""
    made: list[bytes] = []

    def add(sample: str = "regular_ll_pl_grib2", **keys: Any) -> None:
        made.append(field(len(made), sample, **keys))

    for date, step in product(dates, (0, 3, 30)):
        at = {"dataDate": date, "dataTime": 1200, "step": step}
        for name, level in product(("t", "u", "gh"), (1000, 925, 850, 500, 10, 1)):
            add(**at, shortName=name, level=level)
        # Fractions of a hectopascal are another type of level.
        for pascals in (70, 40, 1):
            keys = {"typeOfFirstFixedSurface": 100, "scaleFactorOfFirstFixedSurface": 0}
            add(**at, shortName="t", **keys, scaledValueOfFirstFixedSurface=pascals)
        for height in (2, 80, 100):
            keys = {"parameterCategory": 0, "parameterNumber": 0, "typeOfFirstFixedSurface": 103}
            keys |= {"scaleFactorOfFirstFixedSurface": 0, "scaledValueOfFirstFixedSurface": height}
            add("regular_ll_sfc_grib2", **at, **keys)
        for top, bottom in ((0, 10), (10, 40), (40, 100)):
            keys = {"discipline": 2, "parameterCategory": 0, "parameterNumber": 192, "level": 0}
            keys |= {"typeOfFirstFixedSurface": 106, "typeOfSecondFixedSurface": 106}
            keys |= {f"scaleFactorOf{each}FixedSurface": 2 for each in ("First", "Second")}
            keys |= {"scaledValueOfFirstFixedSurface": top, "scaledValueOfSecondFixedSurface": bottom}
            add("regular_ll_sfc_grib2", **at, **keys)
    for date, (first, last) in product(dates, ((0, 3), (3, 6), (0, 6), (24, 48))):
        keys = {"stepType": "accum", "dataDate": date, "dataTime": 600}
        add("regular_ll_sfc_grib2", shortName="tp", **keys, stepRange=f"{first}-{last}")
    for date, number, level in product(dates, range(members), (850, 500, 250)):
        keys = {"productDefinitionTemplateNumber": 1, "dataDate": date}
        add(**keys, shortName="t", perturbationNumber=number, level=level, step=6)
    return made


@pytest.fixture(scope="module")
def messages() -> list[bytes]:
    return forecast()


def write(folder: Path, messages: list[bytes], lines: Lines = wgrib2_lines, name: str = "f.grib2") -> Path:
    """Write a GRIB file and its index; return that."""
    path = folder / name
    path.write_bytes(b"".join(messages))
    index = folder / f"{name}.{'idx' if lines is wgrib2_lines else 'index'}"
    index.write_text("\n".join(lines(path)) + "\n")
    return index


def references(path: Path | str, **keywords: Any) -> dict[str, Any]:
    """Return the references of a file, the attributes and metadata among them, and what is wrong."""
    with refbrowser.open(str(path), **keywords) as dataset:
        found: dict[str, Any] = json.loads(b"".join(dataset.document.to_plain_chunks()))
        found["why"] = {name: each.node.not_referencable for name, each in dataset.arrays.items()}
        found["notes"] = [each.message for each in dataset.document.notes]
        return found


def notes(path: Path | str, **keywords: Any) -> list[str]:
    with refbrowser.open(str(path), **keywords) as dataset:
        return [each.message for each in dataset.document.notes]


def changed(index: Path, change: Callable[[list[str]], Any]) -> Path:
    lines = index.read_text().splitlines()
    change(lines)
    index.write_text("\n".join(lines) + "\n")
    return index


@pytest.mark.slow
@pytest.mark.parametrize("lines", [wgrib2_lines, mars_lines])
def test_references_are_those_of_the_file(messages: list[bytes], tmp_path: Path, lines: Lines) -> None:
    index = write(tmp_path, messages, lines)
    theirs = references(tmp_path / "f.grib2")
    assert references(index) == theirs
    assert len(theirs["refs"]) > len(messages)
    assert theirs["notes"] == []
    with refbrowser.open(index) as mine, refbrowser.open(tmp_path / "f.grib2") as file:
        assert mine.format == "grib-index"
        for name, array in file.arrays.items():
            assert np.array_equal(mine[name][...], array[...], equal_nan=True), name


@pytest.mark.slow
@pytest.mark.parametrize("lines", [wgrib2_lines, mars_lines])
def test_most_messages_stay_unread(
    messages: list[bytes], tmp_path: Path, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Bits behind the end of each leave nothing of one message to the read of another.
    wide = [grown(each, 40_000) for each in messages]
    index = write(tmp_path, wide, lines)
    files = {f"/{each.name}": each.read_bytes() for each in tmp_path.iterdir()}
    starts = np.cumsum([0, *map(len, wide)])
    with HttpServer(files, latency=0.01) as server:
        mine = references(server.url(f"/{index.name}"))
        asked = [each.range for each in server.requests if each.path == "/f.grib2"]
        read = {int(np.searchsorted(starts, each[0], "right")) - 1 for each in asked if each is not None}
        if lines is wgrib2_lines:
            # Several that are near to each other may come in one answer.
            assert read <= planned(index, len(b"".join(wide)))
        assert len(read) < len(wide) / 2
        assert server.most_connections > 4
        theirs = references(tmp_path / "f.grib2")
        assert len(mine.pop("refs")) == len(theirs.pop("refs"))
        assert mine == theirs
        server.clear()
        # It is known the next time.
        references(server.url(f"/{index.name}"))
        assert sum(each.range is not None for each in server.requests if each.path == "/f.grib2") <= 1


def planned(index: Path, size: int) -> set[int]:
    """Return the messages that are to be read: of each kind the first one, and one more."""
    entries = [*with_lengths(read_inventory(index.read_bytes(), "a").entries, size)]
    numbers: dict[Any, list[int]] = {}
    for number, each in enumerate(entries):
        numbers.setdefault(each.kind, []).append(number)
    return {number for each in numbers.values() for number in (each[0], each[-1])}


def grown(data: bytes, count: int) -> bytes:
    """Return a message with so many bytes more in its last section."""
    at, last = 16, 16
    while data[at : at + 4] != b"7777":
        last, at = at, at + int.from_bytes(data[at : at + 4], "big")
    section = data[last:at] + bytes(count)
    body = data[16:last] + len(section).to_bytes(4, "big") + section[4:] + b"7777"
    return data[:8] + (16 + len(body)).to_bytes(8, "big") + body


def test_what_an_index_does_not_tell_is_read(tmp_path: Path) -> None:
    levels = (1000, 925, 850, 700, 500)
    # Of one kind for the index, and yet on two grids; and two messages that it lists alike.
    made = [field(level, level=level, subCentre=level > 800) for level in levels]
    wide = {"longitudeOfLastGridPointInDegrees": 9, "iDirectionIncrementInDegrees": 3}
    made += [field(level, shortName="u", level=level, **(wide if level < 900 else {})) for level in levels]
    alike = [field(level, shortName="v", level=level) for level in levels]
    alike.insert(2, field(9, shortName="v", level=925, typeOfGeneratingProcess=4))
    made += alike
    index = write(tmp_path, made)
    assert references(index) == references(tmp_path / "f.grib2")


def two_fields(first: bytes, second: bytes) -> bytes:
    """Return a message with the fields of two."""
    one, two = sections(first), sections(second)
    body = b"".join([*one.values(), *(two[number] for number in (4, 5, 6, 7))])
    return first[:8] + (len(body) + 20).to_bytes(8, "big") + body + b"7777"


def sections(data: bytes) -> dict[int, bytes]:
    found, at = {}, 16
    while at < len(data) - 4:
        size = int.from_bytes(data[at : at + 4], "big")
        found[data[at + 4]] = data[at : at + size]
        at += size
    return found


def test_fields_of_one_message(tmp_path: Path) -> None:
    winds = [two_fields(field(1, shortName="u"), field(2, shortName="v")), field(3, shortName="t")]
    index = write(tmp_path, winds)
    assert [each.partition(":")[0] for each in index.read_text().splitlines()] == ["1.1", "1.2", "2"]
    theirs = references(tmp_path / "f.grib2")
    assert references(index) == theirs
    with refbrowser.open(index) as dataset:
        assert dataset["/v"][...].reshape(-1).tolist() == (np.arange(12.0) + 200).tolist()
        assert "share a message" in dataset["/v"].node.not_referencable
    changed(index, lambda lines: lines.insert(2, lines[1].replace("1.2:", "1.3:")))
    (told,) = notes(index)
    assert "the message at byte 0 has no field 3, which the index lists" in told
    # One of both alone.
    changed(index, lambda lines: lines.__delitem__(slice(1, 3)))
    with refbrowser.open(index) as dataset:
        assert {"/u", "/t"} <= set(dataset.arrays)
        assert "/v" not in dataset.arrays


def test_an_index_of_some_messages(tmp_path: Path) -> None:
    made = [field(level, level=level) for level in (1000, 925, 850, 700, 500)]
    index = write(tmp_path, made)
    changed(index, lambda lines: lines.__delitem__(slice(1, 4, 2)))
    alone = tmp_path / "alone"
    alone.mkdir()
    kept = write(alone, made[::2]).with_suffix("")
    with refbrowser.open(index) as mine, refbrowser.open(kept) as theirs:
        assert mine["/isobaricInhPa"][...].tolist() == [500, 850, 1000]
        assert np.array_equal(mine["/t"][...], theirs["/t"][...])
    # What lies between messages belongs to none.
    assert {each[2] for each in references(index)["refs"].values() if isinstance(each, list)} == {
        len(made[0])
    }


# What is stale


@pytest.mark.slow
def test_a_file_that_is_shorter(messages: list[bytes], tmp_path: Path) -> None:
    index = write(tmp_path, messages)
    data = (tmp_path / "f.grib2").read_bytes()
    last = len(data) - len(messages[-1])
    with refbrowser.open(index) as dataset:
        shapes = {name: each.shape for name, each in dataset.arrays.items()}
    (tmp_path / "f.grib2").write_bytes(data[: last + 100])
    told = notes(index)
    assert any(f"the message at byte {last}" in each and "cut" in each for each in told)
    (tmp_path / "f.grib2").write_bytes(data[: last - 5 * len(messages[0])])
    told = notes(index)
    assert any(f"the message at byte {last} is not there" in each for each in told)
    with refbrowser.open(index) as dataset:
        # Arrays are as large as the index says, and what is not there is lost.
        assert {name: each.shape for name, each in dataset.arrays.items()} == shapes
        lacking = [each for each in dataset.arrays.values() if "lost" in each.node.not_referencable]
        assert lacking
        for each in lacking:
            with pytest.raises(RefbrowserError, match="is not there"):
                each[...]


def test_a_file_with_other_messages(tmp_path: Path) -> None:
    made = [field(level, level=level, dataDate=20240131) for level in (1000, 925, 850, 700)]
    index = write(tmp_path, made)
    path = tmp_path / "f.grib2"
    path.write_bytes(bytes(7) + path.read_bytes())
    told = notes(index)
    assert "the message at byte 0 cannot be read: none begins there" in told
    assert any("no message is where the index says" in each for each in told)
    assert main(["check", str(index)]) == 2

    path.write_bytes(
        b"".join(field(level, level=level, dataDate=20240201) for level in (1000, 925, 850, 700))
    )
    said = "the message at byte 0 is of 2024-02-01T12:00, and the index says 2024-01-31T12:00"
    assert notes(index)[0] == said
    path.write_bytes(b"".join(field(level, level=level, step=6) for level in (1000, 925)))
    index.write_text("\n".join(each.replace("6 hour", "3 hour") for each in wgrib2_lines(path)) + "\n")
    said = "the message at byte 0 is of another step (21600 s) than the index says (10800 s)"
    assert notes(index)[0] == said


def test_quantities_members_and_lengths_that_differ(tmp_path: Path) -> None:
    index = write(tmp_path, [field(1, level=500), field(2, shortName="u", level=500)])
    changed(index, lambda lines: lines.__setitem__(0, lines[0].replace(":t:", ":UGRD:")))
    (told,) = notes(index)
    assert told.startswith(
        "the message at byte 0 is of another quantity (discipline, category, number 0 0 0)"
    )
    member = {"productDefinitionTemplateNumber": 1, "perturbationNumber": 3}
    index = write(tmp_path, [field(1, level=500, **member)])
    changed(index, lambda lines: lines.__setitem__(0, lines[0].replace("ENS=+3", "ENS=+4")))
    assert notes(index)[0] == "the message at byte 0 is of member 3, and the index says 4"
    index = write(tmp_path, [field(1, level=500), field(2, level=850)], mars_lines)
    size = len(field(1))
    for wrong in (size - 1, size + 1):
        changed(
            index,
            lambda lines, wrong=wrong: lines.__setitem__(
                1, lines[1].replace(f'"_length": {size}', f'"_length": {wrong}')
            ),
        )
        assert notes(index) == [f"the message at byte {size} has {size} bytes, and the index says {wrong}"]
        index = write(tmp_path, [field(1, level=500), field(2, level=850)], mars_lines)


def test_a_length_that_leads_beyond_the_file(tmp_path: Path) -> None:
    made = [field(level, level=level) for level in (1000, 925, 850, 700, 500)]
    index = write(tmp_path, made, mars_lines)
    size = len(made[0])
    # One that is not read itself.
    lengths = f'"_length": {size}', f'"_length": {10 * size}'
    changed(index, lambda lines: lines.__setitem__(2, lines[2].replace(*lengths)))
    told = notes(index)
    assert told == [
        f"the message at byte {2 * size} reaches into that at byte {3 * size}",
        f"the message at byte {2 * size} is not there: the file has {5 * size} bytes, the index {12 * size}",
    ]


def test_what_was_not_read_at_opening_is_compared_by_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    levels = (1000, 925, 850, 700, 500)
    made = [field(level, level=level) for level in levels]
    index = write(tmp_path, made)
    assert main(["check", str(index)]) == 0
    path = tmp_path / "f.grib2"
    # One in the middle is replaced: it is of another level.
    size = len(made[0])
    path.write_bytes(b"".join([*made[:2], field(1, level=10), *made[3:]]))
    assert notes(index) == []
    capsys.readouterr()
    assert main(["check", str(index)]) == 2
    assert f"the message at byte {2 * size} is not of the kind that the index says" in capsys.readouterr().out
    damaged = bytearray(b"".join(made))
    damaged[3 * size - 4 : 3 * size] = b"6666"
    path.write_bytes(damaged)
    assert main(["audit", str(index), "--level", "set"]) == 2
    assert f"the message at byte {2 * size} does not end where its length says" in capsys.readouterr().out


def test_messages_of_edition_1(tmp_path: Path) -> None:
    made = [field(level, "regular_ll_pl_grib1", level=level) for level in (1000, 850, 500)]
    index = write(tmp_path, made, mars_lines)
    theirs = references(tmp_path / "f.grib2")
    assert references(index) == theirs
    starts = np.cumsum([0, *map(len, made)])[:-1].tolist()
    old = [
        f"{n}:{at}:d=07032312:TMP:kpds5=11:kpds6=100:TR=0:{n} mb:anl:NAve=0" for n, at in enumerate(starts, 1)
    ]
    listed = tmp_path / "f.grib2.inv"
    listed.write_text("\n".join(old) + "\n")
    assert references(listed) == theirs
    listed.write_text(
        "\n".join(f"{n}:{at}:d=2007032312:TMP:{n} mb:anl:" for n, at in enumerate(starts)) + "\n"
    )
    told = notes(listed)
    assert told[0] == "the message at byte 0 is of edition 1, and the index lists edition 2"


# Where the GRIB file is


def test_without_the_file_there_is_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index = write(tmp_path, [field(1, level=500), field(2, level=850, step=3), field(3, shortName="u")])
    with refbrowser.open(index, messages=True) as dataset:
        assert not dataset.document.notes
        assert set(dataset.hierarchy.root.groups) == {"messages"}
        assert dataset["/messages/offset"][...].tolist() == [0, len(field(1)), 2 * len(field(1))]
        assert dataset["/messages/length"][...].tolist() == [len(field(1))] * 2 + [-1]
        assert dataset["/messages/forecast"][...].tolist() == [b"anl", b"3 hour fcst", b"anl"]
        assert dataset["/messages/level"][1] == b"850 mb"
        assert dataset["/messages/time"].node.attributes["units"] == "seconds since 1970-01-01"
    file = tmp_path / "f.grib2"
    moved = file.rename(tmp_path / "elsewhere")
    with refbrowser.open(index) as dataset:
        (told,) = dataset.document.notes
        assert "there is no such file" in told.message
        assert "--grib" in told.advice
        assert dataset["/messages/quantity"][...].tolist() == [b"t", b"t", b"u"]
        with pytest.raises(RefbrowserError, match="there is no such file"):
            dataset["/u"][...]
    # As with every damaged file, what can be shown is shown, and check says what is wrong.
    assert main(["info", str(index)]) == 0
    assert "error[E_IO]" in capsys.readouterr().out
    assert main(["check", str(index)]) == 2
    # No references to nothing: neither of one, nor of several.
    assert main(["make", str(index), "-o", str(tmp_path / "a.json")]) == 4
    assert "there is no such file" in capsys.readouterr().err
    assert not (tmp_path / "a.json").exists()
    other = index.rename(tmp_path / "f2.grib2.idx")
    index.write_bytes(other.read_bytes())
    said = ["--new-dim", "n=list:1,2", "-o", str(tmp_path / "b.json")]
    assert main(["make", str(index), str(other), *said]) == 4
    with refbrowser.open(index, grib=str(moved)) as dataset:
        assert dataset["/u"].shape == (3, 4)
    assert main(["info", str(index), "--grib", str(moved)]) == 0
    assert "/u " in capsys.readouterr().out


def test_a_file_at_a_url_of_an_index_that_is_here(tmp_path: Path) -> None:
    index = write(tmp_path, made := [field(1, level=500), field(2, level=850)])
    (tmp_path / "f.grib2").unlink()
    with (
        HttpServer({"/g.grib2": b"".join(made)}) as server,
        refbrowser.open(index, grib=server.url("/g.grib2")) as dataset,
    ):
        for row, data in enumerate(made):
            assert np.array_equal(dataset["/t"][row].reshape(-1), own_values(data))


@pytest.mark.slow
def test_references_are_made_of_indexes_whose_files_are_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    indexes, data = tmp_path / "idx", tmp_path / "data"
    indexes.mkdir()
    data.mkdir()
    made, named = {}, []
    for step in (3, 6):
        made[step] = field(step, level=500, step=step)
        index = write(indexes, [made[step]], name=f"f{step}.grib2")
        index.with_suffix("").rename(data / f"f{step}.grib2")
        named.append(str(index))
    first, folder, allow = str(data / "f3.grib2"), f"{data}/", [str(data)]
    for grib in (first, folder):
        target = tmp_path / "one.json"
        assert main(["make", named[0], "--grib", grib, "-o", str(target), "--force"]) == 0
        with refbrowser.open(target, allow=allow) as dataset:
            assert np.array_equal(dataset["/t"][...].reshape(-1), own_values(made[3]))
    out = tmp_path / "out"
    report = refbrowser.make(named, out, grib=folder)
    assert len(report.made) == 2
    target = tmp_path / "all.json"
    how = ["--grib", folder, "--new-dim", r"lead=name:f(\d+)", "-o", str(target)]
    assert main(["make", *named, *how]) == 0
    with refbrowser.open(target, allow=allow) as dataset:
        for row, step in enumerate(made):
            assert np.array_equal(dataset["/t"][row].reshape(-1), own_values(made[step]))
    # It may be read as it is named: nobody else is asked, and nothing else may be.
    capsys.readouterr()
    assert main(["make", named[0], "--grib", f"{tmp_path}/none/", "-o", str(tmp_path / "x.json")]) == 4
    assert not (tmp_path / "x.json").exists()
    assert "there is no such file" in capsys.readouterr().err
    with pytest.raises(RefbrowserError, match="there is no option 'grip'"):
        refbrowser.make(named, out, grip=folder)
    with pytest.raises(RefbrowserError, match="grib"):
        refbrowser.make(str(data / "f3.grib2"), tmp_path / "y.json", grib=folder)


@pytest.mark.slow
def test_files_of_a_server_are_named_by_their_folder(tmp_path: Path) -> None:
    named = []
    files = {}
    for step in (3, 6):
        index = write(tmp_path, [field(step, level=500, step=step)], name=f"f{step}.grib2")
        files[f"/gfs/f{step}.grib2"] = index.with_suffix("").read_bytes()
        index.with_suffix("").unlink()
        named.append(str(index))
    target = tmp_path / "all.json"
    with HttpServer(files) as server:
        refbrowser.combine(named, target, new_dims=r"lead=name:f(\d+)", grib=server.url("/gfs/"))
        with refbrowser.open(target, allow=[server.url("/")]) as dataset:
            assert dataset["/t"][:, 0, 0].tolist() == [300, 600]


def test_the_table_is_asked_for_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = write(tmp_path, [field(1, level=500), field(2, level=850)])
    assert main(["info", str(index), "--messages"]) == 0
    assert "/messages/offset  <i8 (message = 2)" in capsys.readouterr().out


def test_an_index_elsewhere_without_its_file(tmp_path: Path) -> None:
    index = write(tmp_path, [field(1, level=500)])
    with HttpServer({"/f.grib2.idx": index.read_bytes()}) as server:
        with refbrowser.open(server.url("/f.grib2.idx")) as dataset:
            assert "which cannot be read" in dataset.document.notes[0].message
            assert dataset["/messages/offset"][...].tolist() == [0]
        assert [each.path for each in server.requests if each.path != "/f.grib2.idx"]


def test_a_link_that_leads_out_of_the_folder_needs_permission(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    (folder / "below").mkdir(parents=True)
    outside.mkdir()
    index = write(folder, [field(1, level=500)])
    file = folder / "f.grib2"
    file.rename(outside / "f.grib2")
    file.symlink_to(outside / "f.grib2")
    with refbrowser.open(index) as dataset:
        (told,) = dataset.document.notes
        assert told.kind is ErrorKind.BLOCKED
        assert f"reading from {outside} needs permission" in told.message
        assert f"--allow {outside}" in told.advice
    assert main(["read", str(index), "/t"]) == 3
    assert "E_BLOCKED" in capsys.readouterr().err
    # Who allows it, or names the file, may read it, and one below the folder lies in it.
    for keywords in ({"allow": [str(outside)]}, {"grib": str(file)}):
        with refbrowser.open(index, **keywords) as dataset:
            assert dataset["/t"][...].reshape(-1).tolist() == (np.arange(12.0) + 100).tolist()
    file.unlink()
    (outside / "f.grib2").rename(folder / "below" / "f.grib2")
    file.symlink_to(folder / "below" / "f.grib2")
    with refbrowser.open(index) as dataset:
        assert not dataset.document.notes
        assert dataset["/t"][...].size == POINTS


def test_without_eccodes_there_is_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = write(tmp_path, [field(1, level=500)])
    monkeypatch.setattr("refbrowser.formats.library.named_file.find_spec", lambda name: None)
    with refbrowser.open(index) as dataset:
        assert dataset.document.notes[0].advice == "pip install 'refbrowser[grib]'"
        assert dataset["/messages/level"][...].tolist() == [b"500 mb"]


@pytest.mark.parametrize(
    ("index", "first"),
    [
        ("gfs.f000.idx", "gfs.f000"),
        ("a.grib2.idx", "a.grib2"),
        ("20240101000000-0h-oper-fc.index", "20240101000000-0h-oper-fc.grib2"),
        ("a.GRB2.inv", "a.GRB2"),
        ("https://h/a.grib2.idx?v=1", "https://h/a.grib2?v=1"),
        ("list.txt", "list.grib2"),
    ],
)
def test_places_of_files(index: str, first: str) -> None:
    assert places_beside(index)[0] == first


# Many of them


@pytest.mark.slow
def test_a_day_of_forecasts(tmp_path: Path) -> None:
    for hour in range(0, 24, 6):
        made = [field(hour + level, level=level, dataTime=100 * hour) for level in (850, 500)]
        write(tmp_path, made, name=f"f{hour:02d}.grib2")
    day = {}
    for suffix in ("idx", ""):
        target = tmp_path / f"day{suffix}.json"
        files = sorted(map(str, tmp_path.glob(f"f??.grib2{'.idx' if suffix else ''}")))
        assert main(["make", *files, "--new-dim", r"time=name:f(\d\d)", "-o", str(target)]) == 0
        day[suffix] = json.loads(target.read_text())
    assert day["idx"]["refs"] == day[""]["refs"]
    with refbrowser.open(tmp_path / "dayidx.json") as dataset:
        assert dataset["/t"].shape == (4, 2, 3, 4)
        assert dataset["/t"][2, 1, 0, 0] == 100 * (12 + 850)


# Damage, and limits


def test_lines_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    index = write(tmp_path, [field(1, level=500), field(2, level=850), field(3, shortName="u")])
    bad = [
        "2:x:d=2024:TMP",
        "4:99999999999999999999:d=2007032312:TMP:1 mb:anl:",
        "5:1:d=2007999912:TMP:1 mb:anl:",
    ]
    changed(index, lambda lines: lines.extend([*bad, lines[0]]))
    with refbrowser.open(index) as dataset:
        told = [(each.place.line, each.message) for each in dataset.document.notes]
        assert [line for line, _ in told] == [4, 5, 6, 7]
        assert "lists the message at byte 0 again" in told[3][1]
        assert dataset["/t"].shape == (2, 3, 4)
    index = write(tmp_path, [field(1, level=500), field(2, level=850)], mars_lines)
    changed(
        index,
        lambda lines: lines.extend(
            [
                '{"_offset": -1, "_length": 3}',
                '{"_offset": 1.5, "_length": 3}',
                "[1]",
                '{"_offset": 9, "_length": 3, "param": "\\ud800"}',
            ]
        ),
    )
    with refbrowser.open(index) as dataset:
        assert [each.place.line for each in dataset.document.notes] == [3, 4, 5, 6]


@pytest.mark.parametrize(("time", "start"), [("2359", 86340), ("12", 43200), ("2400", None), ("1260", None)])
def test_times_that_no_clock_has_are_no_times(time: str, start: int | None) -> None:
    line = f'{{"_offset": 0, "_length": 3, "date": "19700101", "time": "{time}"}}'
    assert read_inventory(line.encode(), "a.index").entries[0].start == start


def test_columns_of_a_table_are_limited(tmp_path: Path) -> None:
    index = tmp_path / "f.index"
    lines = (f'{{"_offset": {at}, "_length": 1, "a{at}": 1, "b{at}": 2}}' for at in range(400))
    index.write_text("\n".join(lines))
    with refbrowser.open(index, messages=True) as dataset:
        (told,) = dataset.document.notes
        assert told.message.startswith("700 more columns are not shown")
        assert "a49" in dataset["/messages"].node.arrays
        assert "a50" not in dataset["/messages"].node.arrays


@pytest.mark.parametrize("name", ["index_size", "index_messages", "index_line"])
def test_limits(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = write(tmp_path, [field(1, level=500), field(2, level=850)])
    longest = max(map(len, index.read_text().splitlines()))
    most = {"index_size": index.stat().st_size, "index_messages": 2, "index_line": longest}[name]

    def limit(value: int) -> None:
        for module in ("inventory", "opening"):
            monkeypatch.setattr(f"refbrowser.formats.grib_index.{module}.LIMITS", Limits(**{name: value}))

    limit(most)
    assert notes(index) == []
    limit(most - 1)
    if name == "index_line":
        assert f"the line has more than {longest - 1} bytes" in notes(index)[0]
        return
    with pytest.raises(RefbrowserError, match=name) as caught:
        refbrowser.open(index)
    assert caught.value.kind is ErrorKind.BUDGET


@pytest.mark.slow
@pytest.mark.parametrize("lines", [wgrib2_lines, mars_lines])
def test_damaged_indexes_and_files(tmp_path: Path, lines: Lines) -> None:
    made = [field(level, level=level) for level in (1000, 850, 700, 500)]
    index = write(tmp_path, made, lines)
    text, data = index.read_bytes(), (tmp_path / "f.grib2").read_bytes()
    random = np.random.default_rng(4)
    for changed_text, changed_data in damages(text, data, random):
        index.write_bytes(changed_text)
        (tmp_path / "f.grib2").write_bytes(changed_data)
        try:
            with refbrowser.open(index) as dataset:
                found = dataset.arrays.get("/t")
                if found is not None and not found.node.error and not dataset.document.notes:
                    found[...]
        except RefbrowserError:
            continue


def damages(text: bytes, data: bytes, random: np.random.Generator) -> Iterator[tuple[bytes, bytes]]:
    for _ in range(12):
        at = int(random.integers(len(text)))
        yield text[:at], data
        yield text[:at] + bytes([int(random.integers(256))]) + text[at + 1 :], data
        at = int(random.integers(len(data)))
        yield text, data[:at]
        yield text, data[:at] + bytes([data[at] ^ (1 << int(random.integers(8)))]) + data[at + 1 :]


def test_a_level_between_others_keeps_its_digits() -> None:
    product_ = bytearray(40)
    product_[7:9], product_[22], product_[28] = b"\0\0", 100, 255
    product_[23], product_[24:28] = 0x82, (5).to_bytes(4, "big")
    heads = {0: b"GRIB\0\0\0\2", 1: bytes(21), 3: b"", 4: bytes(product_)}
    mine = grib_indexed.Row(0, 1, 0, 0, 1, None, None, "5", None, None, None)
    for text, expected in (("7", 700), ("0.4", 40), ("0.01", 1)):
        made = grib_indexed.derived(heads, mine, mine._replace(high=text))
        assert made is not None
        assert made[4][23] == 0
        assert int.from_bytes(made[4][24:28], "big") == expected
    assert grib_indexed.derived(heads, mine._replace(high="0"), mine) is None
