"""Classic netCDF that is cut off, damaged, or lies: what is there is shown, nothing else passes for data."""

from __future__ import annotations

import struct
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from classic_encoder import Classic

import refbrowser
from refbrowser.engine.dataset import Array, Dataset
from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.formats.netcdf3 import header
from refbrowser.formats.netcdf3.header import read_header
from refbrowser.formats.netcdf3.opening import document_of_header
from refbrowser.formats.references import hierarchy_of
from refbrowser.io.fetching.byte_sources import MemoryBytes
from refbrowser.limits import LIMITS, Limits


def example(version: int) -> Classic:
    made = Classic(version, 3)
    made.dimensions = [(b"t", 0), (b"x", 4)]
    made.attributes = [(b"title", "S1", b"a file"), (b"numbers", "f8", [1.5, 2.5])]
    made.add(b"fixed", (1,), np.arange(1, 5, dtype="i4"), attributes=[(b"units", "S1", b"m")])
    made.add(b"time", (0,), np.arange(1, 4, dtype="f8"))
    made.add(b"held", (0, 1), np.arange(1, 13, dtype="i2").reshape(3, 4))
    return made


#: Why data may not be there.
LOST = (ErrorKind.RANGE, ErrorKind.SOURCE, ErrorKind.IO, ErrorKind.META)


def row_of(array: Array, row: int) -> object:
    """Return the values of a row; None where they are not there."""
    try:
        return np.asarray(array[row]).tolist()
    except RefbrowserError as error:
        return None if error.kind in LOST else error


def values_of(dataset: Dataset) -> dict[str, list[object]]:
    """Return the values that can be read, of each row by itself."""
    return {
        path: [row_of(array, row) for row in range(array.shape[0])] for path, array in dataset.arrays.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("version", [1, 5])
def test_of_a_file_that_is_cut_off_what_is_there_is_shown(tmp_path: Path, version: int) -> None:
    path = tmp_path / "a.nc"
    whole = example(version).to_bytes()
    path.write_bytes(whole)
    with refbrowser.open(path) as dataset:
        assert not dataset.document.notes
        expected = values_of(dataset)
    assert expected == {
        "/fixed": [1, 2, 3, 4],
        "/time": [1, 2, 3],
        "/held": [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]],
    }
    shown, header_size = [], len(example(version).header([0, 0, 0]))
    first = 8 if version == 1 else 12
    for size in (*range(first, header_size, 11), *range(header_size, len(whole), 2 if version == 1 else 5)):
        path.write_bytes(whole[:size])
        with refbrowser.open(path) as dataset:
            found = values_of(dataset)
            assert dataset.damage, size
        for name, rows in found.items():
            assert all(row in (None, right) for row, right in zip(rows, expected[name], strict=True)), size
        shown.append(sum(row is not None for rows in found.values() for row in rows))
    assert shown == sorted(shown)
    assert shown[-1] >= 8
    for size in range(1, 8):
        path.write_bytes(whole[:size])
        with pytest.raises(RefbrowserError) as caught:
            refbrowser.open(path)
        assert caught.value.kind in (ErrorKind.FORMAT, ErrorKind.ENCODING, ErrorKind.JSON), size


@pytest.mark.slow
def test_any_word_of_a_header_may_lie(tmp_path: Path) -> None:
    """Each is an error, a variable that cannot be read, or other numbers of the file: nothing else, soon."""
    path = tmp_path / "a.nc"
    start, refused = time.process_time(), []
    for version in (1, 2, 5):
        whole = example(version).to_bytes()
        size = len(example(version).header([0, 0, 0]))
        places = ((at, word) for at in range(4, size, 4) for word in (0, 1, 0x7FFFFFFF, 0xFFFFFFFF))
        for number, (at, word) in enumerate(places):
            data = whole[:at] + struct.pack(">I", word) + whole[at + 4 :]
            try:
                found = document_of_header(read_header(MemoryBytes(data), "/a.nc"), name="/a.nc")
            except RefbrowserError:
                # There is not even the number of records.
                refused.append(at)
                continue
            hierarchy_of(found)
            if number % 37:
                continue
            path.write_bytes(data)
            with refbrowser.open(path) as dataset:
                assert dataset.cdl()
                for array in dataset.arrays.values():
                    if array.shape and array.shape[0]:
                        assert not isinstance(row_of(array, 0), RefbrowserError)
    assert not refused
    assert time.process_time() - start < 60


def test_one_bad_variable_hides_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    good = np.arange(4, dtype="i4")
    cases = {
        "number": 99,
        "begin": -8,
        "dims": (77,),
        "name": b"with/slash",
    }
    for name, value in cases.items():
        made = Classic(2)
        made.dimensions = [(b"x", 4), (b"huge", 2**31 - 1)]
        made.add(b"first", (0,), good)
        made.add(**{"name": b"bad", "dims": (0,), "values": good, name: value})
        made.add(b"last", (0,), good + 1)
        path.write_bytes(made.to_bytes())
        with refbrowser.open(path) as dataset:
            assert dataset["/first"][...].tolist() == [0, 1, 2, 3]
            assert dataset["/last"][...].tolist() == [1, 2, 3, 4]
            if name == "name":
                assert [each.severity for each in dataset.document.notes] == [Severity.WARNING]
                assert "/bad" not in dataset
                continue
            with pytest.raises(RefbrowserError):
                dataset["/bad"][...]
    made = Classic(5)
    made.dimensions = [(b"x", 4)] + [(b"d%d" % number, 2**40) for number in range(40)]
    made.add(b"many", range(1, 36), good)
    made.add(b"large", range(1, 6), good)
    made.add(b"first", (0,), good)
    made.add(b"first", (0,), good + 7)
    path.write_bytes(made.to_bytes())
    with refbrowser.open(path) as dataset:
        assert dataset["/first"][...].tolist() == [0, 1, 2, 3]
        assert dataset["/many"].node.error is not None
        assert dataset["/large"].node.error is not None
        assert any("two variables are named" in each.message for each in dataset.document.notes)


def test_records_whose_distance_is_not_known_are_not_read(tmp_path: Path) -> None:
    """Variables behind where the header ends may have held a part of each record."""
    path = tmp_path / "a.nc"
    made = example(1)
    path.write_bytes(made.to_bytes()[: len(made.header([0, 0, 0])) - 4])
    with refbrowser.open(path) as dataset:
        assert list(dataset.arrays) == ["/fixed", "/time"]
        assert dataset["/time"].node.error is not None
        assert "spacing of its records" in dataset["/time"].node.error.message
    # A variable of no known type takes what the header says that it takes.
    made.variables[1]["number"] = 99
    path.write_bytes(made.to_bytes())
    with refbrowser.open(path) as dataset:
        assert dataset["/held"][2].tolist() == [9, 10, 11, 12]
        assert dataset["/time"].node.error is not None


def test_numbers_of_records_are_claims(tmp_path: Path) -> None:
    """Two thousand million of them are opened at once, and each that is not there is an error."""
    path = tmp_path / "a.nc"
    made = example(5)
    for records in (4, 10**6, 2**31, 2**61):
        made.records = records
        path.write_bytes(made.to_bytes())
        start = time.process_time()
        with refbrowser.open(path) as dataset:
            time_ = dataset["/time"]
            if records == 2**61:
                assert time_.node.error is not None
                continue
            assert time_.shape == (records,)
            assert time_[2] == 3
            for row in (3, records - 1):
                with pytest.raises(RefbrowserError):
                    time_[row]
            assert dataset["/held"][2].tolist() == [9, 10, 11, 12]
            notes = [each.message for each in dataset.document.notes]
            assert len(notes) == 2
            assert all("the file ends" in each for each in notes)
        assert time.process_time() - start < 5


def test_limits_of_a_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.nc"
    made = example(1)
    path.write_bytes(made.to_bytes())
    entries, size = 2 + 2 + 1 + 3, len(made.header([0, 0, 0]))
    for name, enough in (("netcdf_entries", entries), ("netcdf_header", size)):
        for limit, is_whole in ((enough - 1, False), (enough, True), (enough + 1, True)):
            monkeypatch.setattr(header, "LIMITS", replace(LIMITS, **{name: limit}))
            with refbrowser.open(path) as dataset:
                faults = [each for each in dataset.document.notes if each.severity is Severity.FAULT]
                assert (not faults) is is_whole, (name, limit)
                if faults:
                    assert faults[0].kind is ErrorKind.BUDGET
                    assert name in faults[0].message
        monkeypatch.undo()
    made.dimensions += [(b"d%d" % number, 1) for number in range(40)]
    for rank in (32, 33):
        made.variables = []
        made.add(b"v", range(2, 2 + rank), np.zeros(1, "i4"))
        path.write_bytes(made.to_bytes())
        with refbrowser.open(path) as dataset:
            assert (dataset["/v"].node.error is None) is (rank == 32)


def test_data_that_lies_where_other_things_do_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    made = Classic()
    made.dimensions = [(b"x", 4)]
    made.add(b"a", (0,), np.arange(4, dtype="i4"))
    made.add(b"b", (0,), np.arange(4, dtype="i4"), begin=8)
    path.write_bytes(made.to_bytes())
    with refbrowser.open(path) as dataset:
        assert ["within the header" in each.message for each in dataset.document.notes] == [True]
    made.variables[1]["begin"] = len(made.header([0, 0])) + 12
    path.write_bytes(made.to_bytes())
    with refbrowser.open(path) as dataset:
        assert ["within that of 'a'" in each.message for each in dataset.document.notes] == [True]


def test_letters_of_old_files(tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    made = Classic()
    made.attributes = [(b"units", "S1", "°C".encode("latin-1")), (b"ends", "S1", b"a\0\0")]
    path.write_bytes(made.to_bytes())
    with refbrowser.open(path) as dataset:
        assert dict(dataset.hierarchy.root.attributes) == {"units": "°C", "ends": "a"}


def test_variables_are_counted_before_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(header, "LIMITS", Limits(netcdf_variables=2))
    found = read_header(MemoryBytes(example(1).to_bytes()), "a.nc")
    assert not found.variables
    assert not found.is_whole
    assert [(note.kind, "3 variables, more than 2" in note.message) for note in found.findings] == [
        (ErrorKind.BUDGET, True)
    ]


def test_records_are_measured_once_for_all_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []
    plain = header.ClassicVariable.size
    monkeypatch.setattr(
        header.ClassicVariable,
        "size",
        property(lambda self: (measured.append(self.name), plain.fget(self))[1]),
    )
    document_of_header(read_header(MemoryBytes(example(1).to_bytes()), "a.nc"), name="a.nc")
    # A few times each, not once for each of the others.
    assert max(measured.count(name) for name in measured) <= 6
