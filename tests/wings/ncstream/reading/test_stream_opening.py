"""Streams opened: found by their bytes, described whole, local and over HTTP, edited and explained."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path

import numpy as np
import pytest
import stream_encoder as encode
from servers.http_server import HttpServer

import refbrowser
from refbrowser.cli import main
from refbrowser.errors import RefbrowserError, Severity
from refbrowser.formats import registry
from refbrowser.references.edits.edits import SetMetadata
from refbrowser.tools.explain.report.explain import Question, explain
from refbrowser.wings.ncstream.reading import magics

TIME, X = encode.dimension("time", 3, unlimited=True), encode.dimension("x", 2)
FLOAT_ATTRIBUTES = [
    encode.text_attribute("units", "K"),
    encode.text_attribute("flags", "a", "b"),
    encode.number_attribute("_FillValue", encode.FLOAT, -1.0),
    encode.number_attribute("range", encode.SHORT, 1, 2),
    encode.number_attribute("none", encode.DOUBLE, math.nan),
]
OBS = encode.structure(
    "obs",
    shape=[X],
    variables=[encode.variable("day", encode.SHORT), encode.variable("note", encode.STRING)],
)
ROOT = encode.group(
    dimensions=[TIME, X],
    variables=[
        encode.variable("temp", encode.FLOAT, [TIME, X], FLOAT_ATTRIBUTES),
        encode.variable("x", encode.INT, [X], immediate=encode.numbers("i", [10, 20])),
        encode.variable("name", encode.STRING, [X]),
        encode.variable("letters", encode.CHAR, [X]),
        encode.variable("rows", encode.SHORT, [X, encode.VLEN]),
        encode.variable("blob", encode.OPAQUE, [X]),
        encode.variable("kind", encode.ENUM1, [X], enum="kinds"),
    ],
    structures=[OBS],
    attributes=[encode.text_attribute("title", "a stream")],
    enums=[encode.enumeration("kinds", {1: "one", 2: "two"})],
    groups=[
        encode.group(
            "deep", variables=[encode.variable("y", encode.INT, [X, encode.dimension("p", 3, private=True)])]
        )
    ],
)


def data(name, type, ranges, part, **facts):
    return encode.data(encode.data_body(name, type, ranges, bigend=True, **facts), part)


MESSAGES = [
    encode.header(ROOT),
    data("temp", encode.FLOAT, [(0, 1, None), (0, 2, None)], encode.regular(encode.numbers("f", [1, 2]))),
    data("temp", encode.FLOAT, [(1, 1, None), (0, 2, None)], encode.regular(encode.numbers("f", [3, 4]))),
    data("name", encode.STRING, [(0, 2, None)], encode.objects(["a", "ü"])),
    data("letters", encode.CHAR, [(0, 2, None)], encode.regular(b"h\0")),
    data("rows", encode.SHORT, [(0, 2, None), (0, 2**64 - 1, None)], encode.objects([b"", b"\0\5"])),
    data("blob", encode.OPAQUE, [(0, 2, None)], encode.objects([b"", b"\xff"])),
    data("kind", encode.ENUM1, [(0, 2, None)], encode.regular(b"\2\1")),
    data(
        "obs",
        encode.STRUCTURE,
        [(0, 2, None)],
        encode.regular(encode.structure_body(struct.pack(">hIhI", 7, 0, 8, 1), heap=[["p"], ["q"]], count=2)),
    ),
]
STREAM = encode.stream(*MESSAGES)


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "a.ncs"
    found.write_bytes(STREAM)
    return str(found)


@pytest.fixture
def dataset(path):
    with refbrowser.open(path) as found:
        yield found


@pytest.mark.parametrize("name", ["a.ncs", "a.bin", "a", "A.NCS"])
@pytest.mark.parametrize("stream", [STREAM, b"".join(MESSAGES), STREAM[:-4]])
def test_streams_are_known_by_their_first_bytes(tmp_path, name, stream):
    (tmp_path / name).write_bytes(stream)
    with refbrowser.open(tmp_path / name) as dataset:
        assert dataset.format == "ncstream"
        assert dataset["/temp"][1].tolist() == [3, 4]


def test_the_row_of_the_format_has_the_first_bytes_of_all_messages():
    assert set(registry.STREAM.begins) == magics.FIRST | magics.COVERAGES


def test_a_document_with_the_name_of_a_stream_is_a_document(tmp_path):
    (tmp_path / "a.ncs").write_text('{".zgroup": "{\\"zarr_format\\":2}"}')
    assert refbrowser.open(tmp_path / "a.ncs").format == "refs-v0"


@pytest.mark.parametrize("content", [b"", b"CDFX", b"nonsense"])
def test_what_is_no_stream_is_told_so(tmp_path, content):
    (tmp_path / "a.ncs").write_bytes(content)
    with pytest.raises(RefbrowserError, match="not-ncstream"):
        refbrowser.open(tmp_path / "a.ncs")


def test_a_node_tells_what_zarr_cannot(dataset):
    root = dataset["/"].node
    assert root.dimensions["time"].unlimited
    assert not root.dimensions["x"].unlimited
    assert root.attributes == {"title": "a stream"}
    temp = dataset["/temp"].node
    assert temp.values.encoded is not None
    assert temp.dimensions == ("time", "x")
    assert temp.dimension_paths == ("/time", "/x")
    assert temp.attribute_types == {
        "flags": "string",
        "_FillValue": "float",
        "range": "short",
        "none": "double",
    }
    assert temp.attributes["flags"] == ["a", "b"]
    assert temp.attributes["range"] == [1, 2]
    assert math.isnan(temp.attributes["none"])
    assert "_ARRAY_DIMENSIONS" not in temp.attributes
    assert dataset["/kind"].node.type.names == {1: "one", 2: "two"}
    assert dataset["/kind"].node.type.enum_name == "kinds"
    rows = dataset["/rows"].node
    assert (rows.type.row_dtype, rows.type.dimension) == (np.dtype(">i2"), "*")
    assert dataset["/blob"].node.type.name == "opaque"
    assert dataset["/name"].node.type.name == "string"
    deep = dataset["/deep/y"].node
    assert deep.dimension_paths == ("/x", None)
    assert dataset["/deep"].node.dimensions == {}
    assert dataset.hierarchy.findings == ()
    assert dataset.document.notes == ()


def test_values(dataset):
    assert dataset["/temp"][:].tolist() == [[1, 2], [3, 4], [-1, -1]]
    assert dataset["/x"][:].tolist() == [10, 20]
    assert dataset["/name"][:].tolist() == ["a", "ü"]
    assert [row.tolist() for row in dataset["/rows"][:]] == [[], [5]]
    assert dataset["/rows"][1].tolist() == [5]
    assert dataset["/blob"][:].tolist() == [b"", b"\xff"]
    assert dataset["/obs"][:].tolist() == [(7, "p"), (8, "q")]
    assert dataset["/obs"][1]["note"] == "q"
    assert dataset["/deep/y"][:].tolist() == [[-2147483647] * 3] * 2


def test_json_of_the_command_line(path, capsys):
    expected = {
        "/temp": [[1, 2], [3, 4], [-1, -1]],
        "/name": ["a", "ü"],
        "/letters": ["h", ""],
        "/rows": [[], [5]],
        "/blob": [{"hex": ""}, {"hex": "ff"}],
        "/kind": [2, 1],
        "/obs": [{"day": 7, "note": "p"}, {"day": 8, "note": "q"}],
    }
    for array, values in expected.items():
        assert main(["read", path, array, "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == values
    assert main(["info", path, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["format"] == "ncstream"
    assert shown["groups"]["/"]["dimensions"]["time"] == {"size": 3, "unlimited": True}
    assert (shown["arrays"]["/temp"]["stored_chunks"], shown["arrays"]["/temp"]["missing_chunks"]) == (2, 1)
    assert shown["arrays"]["/rows"]["stored_chunks"] == 1
    assert shown["problems"] == []
    assert main(["check", path]) == 0
    assert main(["read", path, "/name", "-o", path + ".npy"]) == 2


def test_messages_and_elements_are_shown_on_the_command_line(path, capfdbinary):
    assert main(["cat", path, "messages/1"]) == 0
    assert capfdbinary.readouterr().out == MESSAGES[1]
    assert main(["cat", path, "messages/99"]) == 2
    assert main(["cat", path, "rows/0"]) == 2
    assert main(["plan", path, "/name", "--json"]) == 0
    start = STREAM.index(encode.objects(["a", "ü"]))
    (request,) = json.loads(capfdbinary.readouterr().out)["requests"]
    assert request[1:] == [start, start + len(encode.objects(["a", "ü"]))]


def test_elements_of_sources_are_explained(dataset):
    told = explain(dataset, Question(array="/rows", index=(1,)))
    assert told.verdict == "This element is [5]"
    assert [step.facts["pieces"][0]["name"] for step in told.steps if step.name == "assembly"] == [
        "message 5"
    ]
    assert "2 pieces" not in explain(dataset, Question(key="rows/0")).verdict
    with refbrowser.open(dataset.path) as other:
        blocked = explain(other, Question(array="/obs", index=(0,), read=False))
        assert blocked.kind.name == "NOT_READ"


def test_options_of_the_command_line(path, capsys):
    assert main(["read", path, "/temp", "--json", "--until", "1"]) == 0
    assert json.loads(capsys.readouterr().out) == [[1, 2], [-1, -1], [-1, -1]]
    assert main(["read", path, "/rows", "--json", "--byte-order", "little"]) == 0
    assert json.loads(capsys.readouterr().out) == [[], [1280]]
    assert main(["read", path, "/x", "--json", "--byte-order", "little"]) == 0
    # What stands in a header is big endian whatever else is said.
    assert json.loads(capsys.readouterr().out) == [10, 20]


def test_checksums_and_damage_are_found_by_check(tmp_path, capsys):
    bad = data("letters", encode.CHAR, [(0, 2, None)], encode.regular(b"ab"), crc32=5)
    torn = data("name", encode.STRING, [(0, 2, None)], encode.objects(["a", "b", "c"]))
    file = tmp_path / "a.ncs"
    file.write_bytes(encode.stream(encode.header(ROOT), bad, torn))
    assert main(["check", str(file), "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert [each["message"].split(":")[0] for each in told["warnings"]] == ["crc32"]
    assert [each["message"].split(":")[0] for each in told["faults"]] == ["size-mismatch"]
    assert main(["read", str(file), "/letters", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out) == ["a", "b"]
    assert "warning[E_FORMAT]: crc32: " in captured.err


def test_a_shape_that_no_array_has_hides_nothing_else(tmp_path):
    variables = [
        encode.variable("bad", encode.INT, [encode.VLEN, X]),
        encode.variable("good", encode.INT, [X], immediate=encode.numbers("i", [1, 2])),
    ]
    file = tmp_path / "a.ncs"
    file.write_bytes(encode.stream(encode.header(encode.group(dimensions=[X], variables=variables))))
    with refbrowser.open(file) as dataset:
        assert dataset["/good"][:].tolist() == [1, 2]
        assert dataset["/bad"].node.error.message.startswith("unsupported-shape: ")
        faults = [each for each in dataset.hierarchy.findings if each.severity is Severity.FAULT]
        assert faults[0].place.path == "/bad"
        with pytest.raises(RefbrowserError, match="unsupported-shape"):
            dataset["/bad"][()]


def test_what_a_header_says_wrongly_hides_nothing_else(tmp_path):
    variables = [
        encode.variable("text", encode.STRING, [X], enum="kinds"),
        encode.variable(
            "x", encode.INT, [X], [encode.attribute("odd", length=1, data=b"ab", data_type=encode.STRUCTURE)]
        ),
    ]
    root = encode.group(dimensions=[X], variables=variables, enums=[encode.enumeration("kinds", {1: "one"})])
    file = tmp_path / "a.ncs"
    file.write_bytes(encode.stream(encode.header(root)))
    with refbrowser.open(file) as dataset:
        assert dataset["/text"].node.type.names == {}
        assert dataset["/text"][:].tolist() == ["", ""]
        assert dataset["/x"][:].tolist() == [-2147483647] * 2
        assert "string text(x) ;" in dataset.cdl()


def test_names_that_no_key_can_hold_are_told(tmp_path):
    variables = [encode.variable("..", encode.INT), encode.variable("good", encode.INT)]
    file = tmp_path / "a.ncs"
    file.write_bytes(encode.stream(encode.header(encode.group(variables=variables))))
    with refbrowser.open(file) as dataset:
        assert list(dataset) == ["good"]
        assert any("cannot be a key" in each.message for each in dataset.document.notes)


def test_attributes_are_edited_as_in_any_document(dataset):
    attributes = {**json.loads(dataset.read_key("temp/.zattrs")), "units": "degC"}
    edited = dataset.with_document(dataset.document.apply(SetMetadata("temp/.zattrs", attributes)))
    assert edited["/temp"].attrs["units"] == "degC"
    assert edited["/temp"].node.attribute_types["range"] == "short"
    assert edited["/obs"][0]["note"] == "p"
    assert edited["/temp"][0].tolist() == [1, 2]


@pytest.mark.parametrize("name", ["/a.ncs", "/stream"])
def test_streams_on_servers(name):
    with HttpServer({name: STREAM}) as server, refbrowser.open(server.url(name)) as dataset:
        assert dataset.format == "ncstream"
        assert dataset["/temp"][1].tolist() == [3, 4]
        assert dataset["/obs"][1]["day"] == 8
        assert [row.tolist() for row in dataset["/rows"][:]] == [[], [5]]


def test_zarr_reads_what_is_assembled_and_never_fill_values_instead(path):
    import zarr

    late = data("temp", encode.FLOAT, [(2, 1, None), (1, 1, None)], encode.regular(encode.numbers("f", [9])))
    Path(path).write_bytes(encode.stream(*MESSAGES, late))
    with refbrowser.open(path) as dataset:
        assert dataset["/temp"].node.assembled is not None
        group = zarr.open_group(dataset.store(), mode="r", zarr_format=2)
        assert group["temp"][...].tolist() == [[1, 2], [3, 4], [-1, 9]]
        assert group["name"][...].tolist() == ["a", "ü"]
        assert group["x"][...].tolist() == [10, 20]
        with pytest.raises(RefbrowserError, match="no form"):
            group["rows"][...]
