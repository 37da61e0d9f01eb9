"""Messages of GRIB that are cut or damaged stay in their arrays, as chunks that are told to be lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from grib_inventory import mars_lines, wgrib2_lines
from grib_made import message, own_values

import refbrowser
from refbrowser.cli.program import main
from refbrowser.engine.dataset import Array
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.library import grib_messages
from refbrowser.model.reference import ReferenceKind

Lines = Callable[[Path], list[str]]
STEPS = (3, 6, 9, 12)
_SIDES = {"Ni": 4, "Nj": 3, "latitudeOfFirstGridPointInDegrees": 60, "longitudeOfFirstGridPointInDegrees": 0}
_SIDES |= {"latitudeOfLastGridPointInDegrees": 56, "longitudeOfLastGridPointInDegrees": 6}


def field(number: int, sample: str = "regular_ll_pl_grib2", **keys: Any) -> bytes:
    return message(sample, np.arange(12.0) + 100 * number, **_SIDES | keys)


def forecast(edition: int = 2) -> list[bytes]:
    """Return messages of one quantity at four steps."""
    return [field(step, f"regular_ll_pl_grib{edition}", step=step, level=500) for step in STEPS]


def section(data: bytes, number: int) -> int:
    """Return where a section of a message of edition 2 begins."""
    at = 16
    while data[at + 4] != number:
        at += int.from_bytes(data[at : at + 4], "big")
    return at


def write(folder: Path, made: list[bytes], data: bytes, lines: Lines | None) -> Path:
    """Write a file that is damaged, with the index of what it was; return what is opened."""
    path = folder / "f.grib2"
    path.write_bytes(b"".join(made))
    if lines is None:
        path.write_bytes(data)
        return path
    index = folder / f"f.grib2.{'idx' if lines is wgrib2_lines else 'index'}"
    index.write_text("\n".join(lines(path)) + "\n")
    path.write_bytes(data)
    return index


def notes(dataset: refbrowser.Dataset) -> list[str]:
    return [each.message for each in dataset.document.notes]


def kinds(array: Array) -> list[int]:
    return np.asarray(array.node.manifest.kinds()).reshape(-1).tolist()


def check_lost(path: Path, made: list[bytes], lost: dict[int, str], name: str = "/t") -> None:
    """Check that some steps of an array are lost, for these reasons, and that the others are as they were."""
    with refbrowser.open(path) as dataset:
        array = dataset[name]
        assert dataset["/step"][...].tolist() == list(STEPS)
        assert kinds(array) == [
            ReferenceKind.FAULTY if row in lost else ReferenceKind.DERIVED for row in range(len(STEPS))
        ]
        for row, data in enumerate(made):
            if row not in lost:
                assert np.array_equal(array[row].reshape(-1), own_values(data))
                continue
            with pytest.raises(RefbrowserError) as caught:
                array[row]
            assert (caught.value.kind, caught.value.message) == (ErrorKind.DECODE, lost[row])
            assert [each.message for each in dataset.document.notes].count(lost[row]) == 1
        with pytest.raises(RefbrowserError):
            array[...]
        assert "lost" in array.node.not_referencable
        assert array.node.attributes["packingType"] == "grid_simple"


@pytest.mark.slow
@pytest.mark.parametrize("lines", [None, wgrib2_lines, mars_lines])
@pytest.mark.parametrize("edition", [1, 2])
def test_a_step_that_is_cut_is_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: Lines | None, edition: int
) -> None:
    if edition == 1 and lines is wgrib2_lines:
        pytest.skip("wgrib2 lists messages of edition 2")
    made, name = forecast(edition), "/t2m" if edition == 1 else "/t"
    at, size = sum(map(len, made[:3])), len(made[3])
    path = write(tmp_path, made, b"".join(made)[:-20], lines)
    said = "was cut" if lines is None else "cannot be read: it was cut"
    said = f"the message at byte {at} {said}: {size - 20} of its {size} bytes are there"
    check_lost(path, made, {3: said}, name)
    assert main(["read", str(path), name, "--json"]) == 2
    assert said in capsys.readouterr().err
    # Others are read; that something is lost is told beside them.
    assert main(["read", str(path), name, "--json", "--select", "2"]) == 0
    assert said in capsys.readouterr().err


def damaged(made: list[bytes], number: int, at: int, data: bytes) -> bytes:
    """Return messages of which one has other bytes at a place; from its end where that is negative."""
    changed = bytearray(made[number])
    at %= len(changed)
    changed[at : at + len(data)] = data
    return b"".join([*made[:number], bytes(changed), *made[number + 1 :]])


@pytest.mark.slow
def test_damaged_messages_between_others_are_lost(tmp_path: Path) -> None:
    made = forecast()
    size = len(made[0])
    packing = section(made[0], 5)
    for number, at, value, why in (
        (1, -4, b"6666", "does not end where its length says"),
        (0, -4, b"6666", "does not end where its length says"),
        (2, 8, (size + 40).to_bytes(8, "big"), "does not end where its length says"),
        (2, 8, (60).to_bytes(8, "big"), "does not end where its length says"),
        (1, 8, (1 << 40).to_bytes(8, "big"), f"was cut: {3 * size} of its {1 << 40} bytes are there"),
        (1, packing, b"\0\0\xff\xff", f"cannot be read: section 5 at byte {size + packing} is outside it"),
    ):
        path = write(tmp_path, made, damaged(made, number, at, value), None)
        check_lost(path, made, {number: f"the message at byte {number * size} {why}"})
    # Its end is missing: the next one begins in it.
    path.write_bytes(b"".join([made[0], made[1][:-30], *made[2:]]))
    check_lost(path, made, {1: f"the message at byte {size} does not end where its length says"})


@pytest.mark.slow
def test_what_an_index_lists_and_the_file_does_not_have_is_lost(tmp_path: Path) -> None:
    made = forecast()
    size = len(made[0])
    for lines in (wgrib2_lines, mars_lines):
        path = write(tmp_path, made, b"".join(made[:2]), lines)
        with refbrowser.open(path) as dataset:
            assert kinds(dataset["/t"]) == [ReferenceKind.DERIVED] * 2 + [ReferenceKind.FAULTY] * 2
            for row in (2, 3):
                said = f"the message at byte {row * size} is not there: the file has {2 * size} bytes"
                with pytest.raises(RefbrowserError, match=said):
                    dataset["/t"][row]
        # One without its head is known by the index and by another one, be it the first or the last.
        for number in (0, 3):
            path = write(tmp_path, made, damaged(made, number, 0, bytes(60)), lines)
            said = f"the message at byte {number * size} cannot be read: none begins there"
            check_lost(path, made, {number: said})
        # Nothing proves that others are what the index says: they are asked themselves.
        data = b"".join([made[0], field(30, step=30, level=500), made[2], bytes(60), made[3][60:]])
        with refbrowser.open(write(tmp_path, made, data, lines)) as dataset:
            assert kinds(dataset["/t"])[1] == ReferenceKind.FAULTY
            assert any("is of another step" in each.message for each in dataset.document.notes)
        # One that is not read at opening is found to be damaged when it is read.
        path = write(tmp_path, made, damaged(made, 1, -4, b"6666"), lines)
        with refbrowser.open(path) as dataset:
            assert np.array_equal(dataset["/t"][2].reshape(-1), own_values(made[2]))
            with pytest.raises(RefbrowserError, match="does not end where its length says"):
                dataset["/t"][1]


@pytest.mark.slow
def test_where_nothing_says_what_was_lost_all_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = forecast()
    at = sum(map(len, made[:3]))
    for left in (40, 10, 2):
        path = write(tmp_path, made, b"".join(made)[: at + left], None)
        said = f"the message at byte {at} was cut"
        assert main(["info", str(path)]) == 0
        assert said in capsys.readouterr().out
        assert main(["read", str(path), "/t", "--json"]) == 0
        assert said in capsys.readouterr().err
        assert main(["check", str(path)]) == 2


@pytest.mark.slow
def test_what_another_message_gives_is_not_lost(tmp_path: Path) -> None:
    made = forecast()
    path = tmp_path / "f.grib2"
    for parts in (damaged(made, 1, -4, b"6666") + made[1], made[1] + damaged(made, 1, -4, b"6666")):
        path.write_bytes(parts)
        with refbrowser.open(path) as dataset:
            assert np.array_equal(dataset["/t"][1].reshape(-1), own_values(made[1]))
            assert any("does not end where" in each.message for each in dataset.document.notes)
            assert not dataset["/t"].node.not_referencable


def wind() -> bytes:
    """Return a message of two fields, as NOAA has them of the parts of the wind."""
    first, second = (field(number, shortName=name, level=500) for number, name in enumerate("uv"))
    body = first[16:-4] + second[section(second, 4) : -4]
    return first[:8] + (len(body) + 20).to_bytes(8, "big") + body + b"7777"


@pytest.mark.slow
@pytest.mark.parametrize("lines", [None, wgrib2_lines])
def test_all_fields_of_a_message_that_is_cut_are_lost(tmp_path: Path, lines: Lines | None) -> None:
    made = [wind(), field(5, shortName="t", level=500)]
    # The last one is the message of two.
    path = write(tmp_path, made[::-1], b"".join(made[::-1])[:-8], lines)
    with refbrowser.open(path) as dataset:
        assert np.array_equal(dataset["/t"][...].reshape(-1), own_values(made[1]))
        for name in ("/u", "/v"):
            with pytest.raises(RefbrowserError, match=f"the message at byte {len(made[1])} .* cut"):
                dataset[name][...]


# What is left of a head


def long_message() -> bytes:
    """Return a message of edition 1 whose length is told as ECMWF tells that of one that is too long."""
    data = bytearray(forecast(1)[1])
    at = 8 + int.from_bytes(data[8:11], "big")
    at += int.from_bytes(data[at : at + 3], "big")
    units = -(-len(data) // 120)
    data[4:7] = (0x800000 | units).to_bytes(3, "big")
    data[at : at + 3] = (120 * units - len(data) + 4).to_bytes(3, "big")
    return bytes(data)


def said(path: Path, data: bytes) -> tuple[list[Any], bool]:
    path.write_bytes(data)
    return grib_messages.GribMessages(str(path)).said_of_lost(0)


@pytest.mark.parametrize("kind", ["edition 1", "edition 2", "in units"])
def test_a_message_says_what_it_is_wherever_it_is_cut(tmp_path: Path, kind: str) -> None:
    edition = 2 if kind == "edition 2" else 1
    data = long_message() if kind == "in units" else forecast(edition)[1]
    path = tmp_path / "f.grib2"
    path.write_bytes(data)
    whole = grib_messages.GribMessages(str(path)).head(0).heads
    if edition == 1:
        least = 8 + int.from_bytes(data[8:11], "big")
        least += int.from_bytes(data[least : least + 3], "big")
    else:
        least = section(data, 5)
    for length in range(len(data) - 4):
        found, is_all = said(path, data[:length])
        assert len(found) == (length >= least), length
        for heads in found:
            assert heads.keys() == whole.keys()
            told = [number for number in whole if number < (5 if edition == 2 else 4)]
            assert all(heads[number] == whole[number] for number in told)
            # How its values are packed is made up where it is lost.
            packing = max(whole)
            is_known = length >= (section(data, 7) + 6 if edition == 2 else least + 11)
            assert (heads[packing][:11] == whole[packing][:11]) == is_known or edition == 2
            assert is_all == is_known or edition == 1


def test_fields_that_may_have_been_in_a_message_are_not_known(tmp_path: Path) -> None:
    data = wind()
    for length, count, is_known in ((-8, 2, True), (section(data, 7) + 8, 1, False)):
        found, is_all = said(tmp_path / "f", data[:length])
        assert (len(found), is_all) == (count, is_known)


def test_a_head_into_which_another_message_runs_says_nothing(tmp_path: Path) -> None:
    data = forecast()[1]
    # The bytes that are missing are replaced by the head of another message.
    other = b"GRIB" + bytes(20)
    at = section(data, 3) + 20
    assert said(tmp_path / "f", data[:at] + other + data[at + len(other) :]) == ([], False)


def test_what_is_read_of_lost_messages_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = forecast()
    # Their lengths lead beyond the file.
    data = b"".join(each[:8] + b"\xff" * 8 + each[16:] for each in made)
    path = tmp_path / "f.grib2"
    path.write_bytes(data)
    for name, value, expected in (
        ("_LOST_SECTIONS", 1000, 4),
        ("_LOST_SECTIONS", 14, 2),
        ("_LOST_BYTES", 400, 2),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(grib_messages, name, value)
            messages = grib_messages.GribMessages(str(path))
            found = [field.offset for field, _ in messages.fields(100)]
            assert found == [number * len(made[0]) for number in range(expected)]
            assert bool(messages.lost) == (expected < 4)
            assert len(messages.problems) == 4


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "step"), [(255, 0), (90, 1), (4, 2**31 - 1)])
def test_steps_that_are_no_time_take_none_to_look_at(tmp_path: Path, unit: int, step: int) -> None:
    first, second = (bytearray(each) for each in forecast()[:2])
    at = section(first, 4)
    first[at + 17] = unit
    first[at + 18 : at + 22] = step.to_bytes(4, "big")
    path = tmp_path / "a.grib2"
    path.write_bytes(bytes(first + second))
    # eccodes counts the days of such a step one by one, for minutes.
    with refbrowser.open(path) as dataset:
        arrays = [each for each in dataset.arrays.values() if len(each.shape) > 1]
        assert {float(value) for each in arrays for value in each[...].flat} >= {300.0, 600.0}
