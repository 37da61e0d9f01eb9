"""Files of Awkward 0 opened from every container, whole and damaged, near and far."""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from awkward0_encoder import (
    BZIP2,
    COMPRESS,
    DEFLATED,
    LZMA,
    STORED,
    Encoder,
    for_hdf5,
    write_folder,
    write_hdf5,
    zipped,
)
from servers.http_server import HttpServer

import refbrowser
from refbrowser.cli.program import main
from refbrowser.engine.opening import OpenRequest, open_dataset, open_document
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.sniffing import FileKind, NotReferencesError
from refbrowser.io.archives.known_archives import Confirm
from refbrowser.limits import LIMITS
from refbrowser.wings.awkward0.reading.opening import Awkward0Origin, NoArraysError

PT = [1.5, 2.5, 3.5]


def members() -> dict[str, bytes]:
    """Three arrays: lists of records, a table, a basic one."""
    two = Encoder("two")
    made = two.members(two.jagged([2, 0, 1], two.table(pt=PT, s=two.strings(["a", "bc", ""]))))
    one = Encoder("one")
    made |= one.members(one.table(x=PT, y=one.jagged([2, 0, 1], [1, 2, 3])))
    basic = Encoder("b")
    return made | basic.members(basic.basic([[1, 2], [3, 4]], "<i4"))


def checked(path: Path | str, above: str = "") -> None:
    """Look at all arrays, and read one of each sort."""
    with refbrowser.open(str(path)) as dataset:
        assert dataset.format == "awkward0"
        nodes = {name: array.node for name, array in dataset.arrays.items()}
        assert nodes[f"{above}/two"].type.name == "var * {pt: float64, s: string}"
        assert nodes[f"{above}/two"].shape == (3,)
        assert nodes[f"{above}/two/pt"].type.name == "var * float64"
        assert nodes[f"{above}/two/pt"].type.inner.dtype == np.dtype("f8")
        assert nodes[f"{above}/one"].type.name == "{x: float64, y: var * int64}"
        assert nodes[f"{above}/one/x"].dtype == np.dtype("f8")
        assert nodes[f"{above}/b"].type.name == "<i4"
        rows = dataset[f"{above}/two/pt"][...]
        assert [row.tolist() for row in rows] == [[1.5, 2.5], [], [3.5]]
        assert dataset[f"{above}/one/x"][...].tolist() == PT
        assert dataset[f"{above}/b"][...].tolist() == [[1, 2], [3, 4]]


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def without_directory(data: bytes) -> bytes:
    return data[: data.index(b"PK\x01\x02")]


# Containers


@pytest.mark.parametrize("method", [STORED, DEFLATED, BZIP2, LZMA])
@pytest.mark.parametrize("name", ["a.awkd", "a.zip", "a.data"])
def test_archives_are_opened_whatever_their_name_and_their_methods(
    tmp_path: Path, name: str, method: int
) -> None:
    checked(written(tmp_path / name, zipped(members(), methods=method)))


@pytest.mark.parametrize("streamed", [False, True])
def test_files_that_were_put_into_a_folder_before_they_were_packed(tmp_path: Path, streamed: bool) -> None:
    data = zipped(members(), folder="sub/", streamed=streamed)
    checked(written(tmp_path / "a.awkd", data), "/sub")


def test_folders_of_blobs(tmp_path: Path) -> None:
    checked(write_folder(tmp_path / "near", members()))
    write_folder(tmp_path / "far" / "sub", members())
    checked(tmp_path / "far", "/sub")


def test_folders_are_never_left_by_links(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "folder", members())
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("two-4.raw", "one-2.raw"):
        if (folder / name).exists():
            shutil.move(folder / name, outside / name)
    moved = next(iter(outside.iterdir()))
    (folder / moved.name).symlink_to(moved)
    (folder / "away").symlink_to(outside)
    (folder / "round").symlink_to(folder)
    with refbrowser.open(str(folder)) as dataset:
        origin = dataset.document.origin
        assert isinstance(origin, Awkward0Origin)
        assert moved.name not in origin.container.names()
        assert not any("/" in name for name in origin.container.names())


def test_hdf5_files(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    encoder = for_hdf5("deep/one")
    path = write_hdf5(tmp_path / "a.h5", encoder.members(encoder.jagged([2, 0, 1], PT)))
    with refbrowser.open(str(path)) as dataset:
        assert [row.tolist() for row in dataset["/deep/one"][...]] == [[1.5, 2.5], [], [3.5]]


def test_a_plain_value_is_an_array_without_dimensions(tmp_path: Path) -> None:
    encoder = Encoder("")
    path = written(tmp_path / "a.awkd", zipped(encoder.members(encoder.value(0.4))))
    with refbrowser.open(str(path)) as dataset:
        assert dataset["/array"][...] == 0.4


def test_names_that_no_key_can_hold(tmp_path: Path) -> None:
    made: dict[str, bytes] = {}
    names = ["", ".zarray", "a%41", "node1-data", "deep/er"]
    for name in names:
        encoder = Encoder(name)
        made |= encoder.members(encoder.jagged([1], [1.0]))
    with refbrowser.open(str(written(tmp_path / "a.awkd", zipped(made)))) as dataset:
        origin = dataset.document.origin
        assert isinstance(origin, Awkward0Origin)
        assert [array.name for array in origin.arrays] == names
        paths = [array.path for array in origin.arrays]
        assert paths == ["/array", "/%2Ezarray", "/a%2541", "/%6Eode1-data", "/deep/er"]
        for path in paths:
            assert [row.tolist() for row in dataset[path][...]] == [[1.0]]


# What is none


def test_an_archive_without_arrays_is_what_it_was_before(tmp_path: Path) -> None:
    data = zipped({"a.json": b"{}", "b.bin": bytes(500)})
    with pytest.raises(NotReferencesError) as caught:
        open_document(OpenRequest(str(written(tmp_path / "a.zip", data))))
    assert caught.value.found.kind is FileKind.ZIP
    with pytest.raises(NoArraysError):
        open_document(OpenRequest(str(written(tmp_path / "a.awkd", data))))
    folder = write_folder(tmp_path / "folder", {"a.json": b'{"refs": {}}'})
    with pytest.raises(NotReferencesError) as caught:
        open_document(OpenRequest(str(folder)))
    assert caught.value.found.documents == ("a.json",)


def test_a_store_stays_a_store_beside_schemas(tmp_path: Path) -> None:
    data = zipped({".zgroup": b'{"zarr_format": 2}', **members()})
    with refbrowser.open(str(written(tmp_path / "a.zip", data))) as dataset:
        assert dataset.format == "zarr-v2"


def test_a_flavour_that_was_asked_for_is_none_of_these(tmp_path: Path) -> None:
    path = written(tmp_path / "a.awkd", zipped(members()))
    assert main(["info", str(path), "--as", "zarr-v2"]) == 2


# Damage


@pytest.mark.parametrize("method", [STORED, DEFLATED])
@pytest.mark.parametrize("name", ["a.awkd", "a.zip"])
def test_an_archive_without_a_directory_is_read_and_the_loss_is_told(
    tmp_path: Path, name: str, method: int, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / name, without_directory(zipped(members(), methods=method)))
    checked(path)
    assert main(["check", str(path)]) == 2
    said = capsys.readouterr().out
    assert "the directory of the archive cannot be read" in said
    assert said.count("\n") == 1


def test_what_is_lost_of_a_damaged_archive_is_told_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = zipped(members())
    at = data.rindex(b"b.json", 0, data.index(b"PK\x01\x02"))
    path = written(tmp_path / "a.awkd", data[: at + 30])
    with refbrowser.open(str(path)) as dataset:
        assert dataset["/one/x"][...].tolist() == PT
        node = dataset["/b"].node
        assert node.error is not None
        assert node.error.kind is ErrorKind.RANGE
    assert main(["check", "--json", str(path)]) == 2
    faults = json.loads(capsys.readouterr().out)["faults"]
    assert any("cut short" in fault["message"] for fault in faults)


def test_blobs_that_are_left_without_their_schema_are_told(tmp_path: Path) -> None:
    data = zipped(members())
    header = data.rindex(b"PK\x03\x04", 0, data.index(b"PK\x01\x02"))
    path = written(tmp_path / "a.awkd", data[:header])
    with refbrowser.open(str(path)) as dataset:
        assert "/b" not in dataset.arrays
        told = [note for note in dataset.document.notes if "b-0.raw" in note.message]
        assert len(told) == 1


def test_stored_members_of_a_damaged_archive_are_ranges_that_others_can_read(tmp_path: Path) -> None:
    data = without_directory(zipped(members()))
    path = written(tmp_path / "a.awkd", data)
    document = open_document(OpenRequest(str(path))).document
    references = json.loads(document.to_bytes())["refs"]
    assert references["b/0.0"] == ["{{u}}", data.index(b"b-0.raw") + len("b-0.raw"), 16]
    assert "zip://" not in document.to_bytes().decode()


def test_a_blob_with_another_checksum_is_found_by_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = bytearray(zipped(members()))
    at = data.index(np.array(PT).tobytes())
    data[at] ^= 1
    path = written(tmp_path / "a.awkd", bytes(data))
    assert main(["check", str(path)]) == 2
    assert "CRC-32" in capsys.readouterr().out


def test_values_that_contradict_each_other_are_found_by_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    encoder = Encoder("bad")
    made = encoder.members(encoder.jagged([2, -1, 1], PT))
    path = written(tmp_path / "a.awkd", zipped({**made, **members()}))
    assert main(["check", "--json", str(path)]) == 2
    faults = json.loads(capsys.readouterr().out)["faults"]
    assert len(faults) == 1
    checked(path)


def test_a_schema_that_is_damaged_leaves_the_others(tmp_path: Path) -> None:
    made = {**members(), "bad.json": b'{"awkward0": "0.15.5", "schema": '}
    path = written(tmp_path / "a.awkd", zipped(made))
    checked(path)
    with refbrowser.open(str(path)) as dataset:
        assert dataset["/bad"].node.error.kind is ErrorKind.JSON
        assert any(finding.kind is ErrorKind.JSON for finding in dataset.hierarchy.findings)
        with pytest.raises(RefbrowserError):
            dataset["/bad"][...]


# Over the network


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer({}) as server:
        yield server


def many(count: int) -> dict[str, bytes]:
    made: dict[str, bytes] = {}
    for number in range(count):
        encoder = Encoder(f"a{number}")
        made |= encoder.members(encoder.jagged([2, 0, 1], PT))
    return made


@pytest.mark.slow
def test_a_remote_file_opens_in_a_few_requests(server: HttpServer) -> None:
    server.files["/a.awkd"] = zipped(many(300))
    with refbrowser.open(server.url("/a.awkd")) as dataset:
        assert len(dataset.groups) == 301
        # Its size, its directory, and all schemas in some large parts.
        assert server.request_count <= 6
        before = server.request_count
        assert [row.tolist() for row in dataset["/a7"][...]] == [[1.5, 2.5], [], [3.5]]
        assert server.request_count - before <= 3


@pytest.mark.parametrize("path", ["/a.awkd", "/a.zip", "/a", "/a.awkd?version=1"])
def test_remote_files_are_found_whatever_their_name(server: HttpServer, path: str) -> None:
    server.files[path] = zipped(members())
    checked(server.url(path))


def test_a_large_blob_of_a_remote_file_is_not_read_to_show_its_type(server: HttpServer) -> None:
    encoder = Encoder("large")
    made = encoder.members(encoder.jagged(np.full(1000, 500), np.arange(500_000.0)))
    server.files["/a.awkd"] = zipped(made)
    with refbrowser.open(server.url("/a.awkd")) as dataset:
        assert dataset["/large"].node.type.name == "var * float64"
        opened = sum(stop - start + 1 for start, stop in ranges(server))
        assert opened < 200_000
        expected = [np.arange(250_000.0, 250_500).tolist(), np.arange(250_500.0, 251_000).tolist()]
        at_once = dataset.with_access(dataset.access.confirming(Confirm.LATER))["/large"]
        assert [row.tolist() for row in at_once[500:502]] == expected
        shown = sum(stop - start + 1 for start, stop in ranges(server))
        assert shown - opened < 200_000
        # A program gets what was confirmed: all of the blob is read, once.
        for _ in range(2):
            assert [row.tolist() for row in dataset["/large"][500:502]] == expected
        read = sum(stop - start + 1 for start, stop in ranges(server)) - shown
        assert 4_000_000 <= read < 4_100_000


def ranges(server: HttpServer) -> list[tuple[int, int]]:
    size = max(map(len, server.files.values()))
    found = []
    for request in server.requests:
        start, stop = request.range or (0, None)
        found.append((start, size if stop is None else stop))
    return found


def test_a_remote_archive_without_a_directory_is_rescued_too(server: HttpServer) -> None:
    server.files["/a.awkd"] = without_directory(zipped(members()))
    checked(server.url("/a.awkd"))
    assert server.request_count < 60


# Verbs


@pytest.mark.slow
def test_blobs_are_given_by_the_names_that_they_have(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    made = members()
    path = written(tmp_path / "a.awkd", zipped(made, methods=DEFLATED))
    for name in made:
        assert main(["cat", str(path), name]) == 0
        assert capfdbinary.readouterr().out == made[name]
    assert main(["cat", str(path), "nothing"]) == 2
    assert b"blobs have their names in the file: one-1.raw" in capfdbinary.readouterr().err


def test_functions_that_the_user_allows_are_applied(tmp_path: Path) -> None:
    encoder = Encoder("one")
    root = encoder.jagged([2, 0, 1], encoder.basic(PT, codecs=["bz2.decompress"]))
    path = str(written(tmp_path / "a.awkd", zipped(encoder.members(root))))
    with open_dataset(OpenRequest(path)) as dataset, pytest.raises(RefbrowserError) as caught:
        dataset["/one"][...]
    assert caught.value.kind is ErrorKind.UNSAFE
    with open_dataset(OpenRequest(path, options={"allow_functions": ("bz2.decompress",)})) as dataset:
        assert [row.tolist() for row in dataset["/one"][...]] == [[1.5, 2.5], [], [3.5]]
    assert main(["check", path]) == 2
    assert main(["check", path, "--allow-function", "bz2.*"]) == 0


@pytest.mark.parametrize("verb", ["info", "check", "cdl", "expand"])
def test_verbs_that_show_all_of_a_file(tmp_path: Path, verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "a.awkd", zipped(members()))
    assert main([verb, str(path)]) == 0
    assert capsys.readouterr().out
    if verb != "cdl":
        assert main([verb, "--json", str(path)]) == 0
        json.loads(capsys.readouterr().out)


def test_info_as_json_tells_types_and_lengths(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "a.awkd", zipped(members()))
    assert main(["info", "--json", str(path)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["format"] == "awkward0"
    assert said["problems"] == []
    assert said["arrays"]["/two"]["dtype"] == "var * {pt: float64, s: string}"
    assert said["arrays"]["/two"]["shape"] == [3]
    assert said["arrays"]["/two"]["error"] is None
    assert said["groups"]["/two"]["attributes"] == {}


def test_info_writes_types_of_nested_arrays_as_awkward_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "a.awkd", zipped(members()))
    assert main(["info", str(path)]) == 0
    said = capsys.readouterr().out
    assert "  /two  3 * var * {pt: float64, s: string}\n" in said
    assert "awkward0_schema" not in said


def test_opening_reads_no_blob(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every blob is garbage; only reading tells."""
    made = {name: data if name.endswith(".json") else bytes(len(data)) for name, data in members().items()}
    data = zipped(made)
    for name in made:
        if not name.endswith(".json"):
            crc = zlib.crc32(made[name]).to_bytes(4, "little")
            data = data.replace(crc, b"\1\2\3\4")
    with refbrowser.open(str(written(tmp_path / "a.awkd", data))) as dataset:
        assert dataset["/two"].node.type.name == "var * {pt: float64, s: string}"
        with pytest.raises(RefbrowserError):
            dataset["/two"][...]


def test_a_plan_names_what_rows_may_need_and_reading_needs_no_more(server: HttpServer) -> None:
    encoder = Encoder("large")
    made = encoder.members(encoder.jagged(np.full(30_000, 10), np.arange(300_000.0)))
    server.files["/a.awkd"] = zipped(made)
    with refbrowser.open(server.url("/a.awkd")) as dataset:
        array = dataset["/large"]
        plan = array.plan(array.selection("100:110"))
        # Only the counts tell where the lists are. What is read of a blob is confirmed by reading all of it.
        headers = sum(30 + len(name) for name in made if name.endswith(".raw"))
        assert plan.useful_bytes == 30_000 * 8 + 300_000 * 8 + headers
        at_once = dataset.with_access(dataset.access.confirming(Confirm.LATER))["/large"]
        assert at_once.plan(array.selection("100:110")).useful_bytes == 110 * 8 + 300_000 * 8
        assert plan.chunks == 1
        assert array.plan(array.selection("0:0")).useful_bytes == 0
        server.clear()
        assert array[100:110][0].tolist() == np.arange(1000.0, 1010).tolist()
        assert sum(stop - start for start, stop in ranges(server)) <= plan.useful_bytes


def test_an_explanation_names_the_buffers_of_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(written(tmp_path / "a.awkd", zipped(members())))
    assert main(["explain", path, "two/pt/0"]) == 0
    said = capsys.readouterr().out
    assert "is made from buffers: rows 0 to 3" in said
    assert "two-6.raw" in said
    assert "two-2.raw" not in said
    assert main(["explain", path, "--array", "/two/pt", "--index", "2", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    (step,) = [each for each in said["steps"] if each["name"] == "buffers"]
    assert step["facts"]["rows"] == [2, 3]
    assert "[3.5]" in said["verdict"]


def test_an_explanation_says_that_a_value_may_be_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    encoder = Encoder("one")
    root = encoder.make("MaskedArray", encoder.basic([True, False]), encoder.basic([1, 2]))
    path = str(written(tmp_path / "a.awkd", zipped(encoder.members(root))))
    assert main(["explain", path, "--array", "/one", "--index", "0"]) == 0
    assert "or the value is missing" in capsys.readouterr().out


def test_other_files_of_a_server_are_not_searched(server: HttpServer) -> None:
    server.files["/a.h5"] = b"\x89HDF\r\n\x1a\n" + bytes(9000)
    with pytest.raises(RefbrowserError, match="HDF5 cannot be read"):
        refbrowser.open(server.url("/a.h5"))
    assert server.request_count <= 2


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"no archive at all", b"PK\x05\x06" + bytes(18)])
def test_files_that_are_no_archive_are_refused_by_kind(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(RefbrowserError) as caught:
        refbrowser.open(str(written(tmp_path / "a.awkd", data)))
    assert caught.value.kind is ErrorKind.FORMAT


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert main(["info", str(tmp_path / "none.awkd")]) == 6


def test_compressed_blobs_without_a_count_are_as_long_as_they_unpack_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values, chains = np.arange(5_000, dtype="<i4"), [[each] for each in COMPRESS]
    chains += [["zlib.decompress", "lzma.decompress"], ["lz4.block.decompress", "zlib.decompress"]]
    encoders = {f"a{at}": (chain, Encoder(f"a{at}")) for at, chain in enumerate(chains)}
    members = {}
    for at, (chain, encoder) in enumerate(encoders.values()):
        # Blobs of one shape of schema have different lengths.
        members |= encoder.members(encoder.basic(values[: 5_000 - at], codecs=chain, count=-1))
    other = Encoder("other")
    members |= other.members(other.basic(values[:7], codecs=["zlib.decompress"], count=-1))
    wrong = Encoder("wrong")
    members |= wrong.members(
        wrong.table(
            odd=wrong.basic([1], "i4", data=b"\0" * 7, codecs=["zlib.decompress"], count=-1),
            cut=wrong.basic([1], "i4", data=b"\0" * 8, codecs=["zlib.decompress"], count=-1),
            good=wrong.basic(values[:2], offset=3, codecs=["bz2.decompress"], count=-1),
        )
    )
    (cut,) = [name for name, data in members.items() if data == zlib.compress(b"\0" * 8)]
    members[cut] = members[cut][:-6]
    path = written(tmp_path / "a.awkd", zipped(members))
    with open_dataset(OpenRequest(str(path), options={"allow_functions": ("bz2.decompress",)})) as dataset:
        for at, name in enumerate(encoders):
            assert dataset[f"/{name}"].shape == (5_000 - at,)
            assert np.array_equal(dataset[f"/{name}"][...], values[: 5_000 - at])
        assert dataset["/other"][...].tolist() == list(range(7))
        assert dataset["/wrong/good"][...].tolist() == [0, 1]
        for name in ("odd", "cut"):
            assert (
                dataset[f"/wrong/{name}"].node.error is not None or dataset[f"/wrong/{name}"].node.unreadable
            )
    # No more is unpacked for it than there is a bound for.
    monkeypatch.setattr(
        "refbrowser.wings.awkward0.reading.arrays.LIMITS", replace(LIMITS, chunk_size=4 * 4_999)
    )
    with refbrowser.open(str(path)) as dataset:
        with pytest.raises(RefbrowserError, match="chunk_size"):
            dataset["/a0"][...]
        assert dataset["/a1"][...].tolist() == values[:4_999].tolist()
