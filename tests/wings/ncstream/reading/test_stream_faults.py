"""Faults and warnings of streams: code, number of the message, byte of its magic (wire notes, section 8)."""

import json
import zlib

import numpy as np
import pytest
import stream_encoder as enc
from stream_constructs import N3, block, one
from stream_encoder import data, data_body, dimension, group, header, numbers, objects, regular, stream, whole
from stream_reading import opened, plain
from structure_constructs import D2
from structure_constructs import one as structure_stream

from refbrowser.cli.program import main
from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.io.fetching.byte_sources import MemoryBytes
from refbrowser.wings.ncstream.reading.walk import walk_stream

GOOD = block(enc.INT, whole([3]), [1, 2, 3])
VALUES = numbers("i", [1, 2, 3])
FIRST = len(one("x", enc.INT, [N3])) - len(enc.MAGIC_END)


def message(part, ranges=None, type=enc.INT, name="x", **facts):
    ranges = whole([3]) if ranges is None else ranges
    return data(data_body(name, type, ranges, bigend=True, **facts), part)


def after_good(*bad):
    """Return a stream with a sound message and then others, and where the first of these begins."""
    return one("x", enc.INT, [N3], GOOD, *bad), FIRST + len(GOOD)


def findings(dataset):
    """Return code, severity and byte of each finding that a stream is told to have."""
    found = [*dataset.document.notes, *dataset.hierarchy.findings]
    return {(each.message.split(":")[0], each.severity.value, each.place.start) for each in found}


def codes_of(dataset, path="/x"):
    """Return the codes of findings, and of the error that reading an array ends with."""
    codes = {(code, start) for code, _, start in findings(dataset)}
    try:
        np.asarray(dataset[path][...])
    except RefbrowserError as error:
        codes.add((error.message.split(":")[0], error.place.start))
        kinds = {error.kind}
    else:
        kinds = {ErrorKind.FORMAT}
    assert kinds == {ErrorKind.FORMAT}
    return codes


#: What is damaged in its framing: told when a stream is opened, values before it stay.
FRAMING = {
    "bad-magic": b"nonsense and more of it",
    "bad-varint": enc.MAGIC_DATA + b"\xff" * 11,
    "bad-protobuf": enc.MAGIC_DATA + regular(b"\x0a\xff"),
    "length-too-large": enc.MAGIC_DATA + enc.varint(2**62),
    "unknown-variable": message(regular(VALUES), name="y"),
    "unknown-compression": message(regular(VALUES), compress=2),
    "section-rank": message(regular(VALUES), [(0, 3, 1), (0, 1, 1)]),
    "section-out-of-range": message(regular(VALUES), [(1, 3, 1)]),
    "size-mismatch": message(regular(VALUES[:8])),
    "type-mismatch": message(regular(VALUES), type=enc.FLOAT),
    "deflate": message(regular(b"no zlib stream at all"), compress=enc.DEFLATE),
    "stream-error": enc.error("the disk is full", 7),
}


#: Of these it is known that they were to give values of the variable, in the place of those before them.
OF_THE_VARIABLE = {
    *("size-mismatch", "deflate", "type-mismatch"),
    *("section-rank", "section-out-of-range", "unknown-compression"),
}


@pytest.mark.parametrize("code", sorted(FRAMING.keys() - OF_THE_VARIABLE))
def test_values_before_a_fault_stay(code, tmp_path):
    with opened(tmp_path, after_good(FRAMING[code])[0]) as dataset:
        assert plain(dataset["/x"][...]) == [1, 2, 3]
        # They may have been replaced.
        assert [each.message.split(":")[0] for each in dataset["/x"].damage] == [code]


@pytest.mark.parametrize("code", sorted(OF_THE_VARIABLE))
def test_values_before_a_fault_of_their_variable_are_lost_until_they_are_sent_again(code, tmp_path):
    dataset = opened(tmp_path, after_good(FRAMING[code])[0])
    with dataset, pytest.raises(RefbrowserError, match=code):
        np.asarray(dataset["/x"][...])
    with opened(tmp_path, after_good(FRAMING[code], GOOD)[0], "again.ncs") as dataset:
        assert plain(dataset["/x"][...]) == [1, 2, 3]


@pytest.mark.parametrize("code", FRAMING)
def test_a_fault_harms_no_other_variable(code, tmp_path):
    variables = [enc.variable(name, enc.INT, [N3]) for name in "xz"]
    other = message(regular(VALUES), name="z")
    before = stream(header(group(dimensions=[N3], variables=variables)), other, FRAMING[code])
    with opened(tmp_path, before) as dataset:
        assert plain(dataset["/z"][...]) == [1, 2, 3]


def test_a_stream_that_ends_in_a_message_is_truncated(tmp_path):
    made, start = after_good(message(regular(VALUES), [(0, 3, 1)]))
    with opened(tmp_path, made[: start + 20]) as dataset:
        told = {code for code, _, at in findings(dataset) if at == start}
        assert told & {"truncated", "length-too-large"}
        assert plain(dataset["/x"][...]) == [1, 2, 3]


def test_what_is_no_stream_is_refused(tmp_path):
    for content in (b"CDFX" + b"\0" * 40, b"GIF89a"):
        with pytest.raises(RefbrowserError) as caught:
            opened(tmp_path, content)
        assert caught.value.kind is ErrorKind.FORMAT


def test_coverage_streams_are_not_supported(tmp_path):
    for magic in (enc.MAGIC_COVERAGE_HEADER, enc.MAGIC_COVERAGE_DATA):
        with opened(tmp_path, stream(header(group()), magic + regular(b"")), f"{magic[0]}.ncs") as dataset:
            (told,) = (each.message for each in [*dataset.document.notes, *dataset.hierarchy.findings])
            assert "not supported" in told


@pytest.mark.parametrize(
    ("code", "make"),
    [
        ("no-start", lambda whole: whole[4:]),
        ("no-end", lambda whole: whole[:-4]),
        ("trailing-bytes", lambda whole: whole + b"tail"),
    ],
)
def test_warnings_of_framing(code, make, tmp_path):
    with opened(tmp_path, make(one("x", enc.INT, [N3], GOOD))) as dataset:
        told = {(found, severity) for found, severity, _ in findings(dataset)}
        assert told == {(code, Severity.WARNING.value)}
        assert plain(dataset["/x"][...]) == [1, 2, 3]


def test_a_checksum_that_is_wrong_is_a_warning(tmp_path):
    made = one("x", enc.INT, [N3], message(regular(VALUES), crc32=zlib.crc32(VALUES) ^ 1))
    with opened(tmp_path, made) as dataset:
        assert plain(dataset["/x"][...]) == [1, 2, 3]


def test_a_wrong_uncompressed_size_is_a_warning(tmp_path):
    part = enc.deflated(VALUES)
    made = one("x", enc.INT, [N3], message(part, compress=enc.DEFLATE, uncompressed=11))
    with opened(tmp_path, made) as dataset:
        assert plain(dataset["/x"][...]) == [1, 2, 3]
        assert {(code, severity) for code, severity, _ in findings(dataset)} <= {("size-mismatch", "warning")}


def test_a_header_with_dimensions_that_nobody_declares(tmp_path):
    made = stream(header(group(variables=[enc.variable("x", enc.INT, [N3])])), GOOD)
    with opened(tmp_path, made) as dataset:
        assert ("unknown-dimension", 4) in codes_of(dataset)
        assert plain(dataset["/x"][...]) == [1, 2, 3]


def test_a_private_dimension_needs_no_declaration(tmp_path):
    shape = [dimension(None, 3, private=True)]
    made = stream(header(group(variables=[enc.variable("x", enc.INT, shape)])), GOOD)
    with opened(tmp_path, made) as dataset:
        assert findings(dataset) == set()
        assert plain(dataset["/x"][...]) == [1, 2, 3]


def test_unknown_types_are_browsable(tmp_path):
    variables = [enc.variable("odd", 99, [N3]), enc.variable("x", enc.INT, [N3])]
    made = stream(header(group(dimensions=[N3], variables=variables)), GOOD)
    with opened(tmp_path, made) as dataset:
        assert "unknown-type" in {code for code, _, _ in findings(dataset)}
        assert plain(dataset["/x"][...]) == [1, 2, 3]


#: What is damaged in the data part: told when it is read.
PAYLOADS = {
    "too few objects": (enc.STRING, [N3], message(objects(["a", "b"]), type=enc.STRING), "size-mismatch"),
    "too many objects": (enc.STRING, [N3], message(objects(list("abcd")), type=enc.STRING), "size-mismatch"),
    "half an element": (enc.INT, [N3, enc.VLEN], message(objects([b"abc", b"", b""])), "size-mismatch"),
    "inflated to more": (
        enc.INT,
        [N3],
        message(enc.deflated(VALUES + b"\0"), compress=enc.DEFLATE),
        "size-mismatch",
    ),
    "inflated to less": (
        enc.INT,
        [N3],
        message(enc.deflated(VALUES[:-1]), compress=enc.DEFLATE),
        "size-mismatch",
    ),
    "a bomb": (enc.INT, [N3], message(enc.deflated(bytes(1 << 24)), compress=enc.DEFLATE), "size-mismatch"),
    "vlen not last": (enc.INT, [enc.VLEN, N3], b"", "unsupported-shape"),
}


@pytest.mark.parametrize("name", PAYLOADS)
def test_damaged_payloads_are_told(name, tmp_path):
    type, shape, bad, code = PAYLOADS[name]
    with opened(tmp_path, one("x", type, shape, bad)) as dataset:
        assert code in {found for found, _ in codes_of(dataset)}


def test_members_that_rows_have_no_form_for(tmp_path):
    for member in (enc.variable("o", enc.OPAQUE), enc.variable("r", enc.INT, [enc.VLEN])):
        body = enc.structure_body(b"\0" * 8, count=2)
        rows = data(data_body("s", enc.STRUCTURE, whole([2])), regular(body))
        with opened(tmp_path, structure_stream([D2], [member], rows)) as dataset:
            assert "unsupported-member" in {found for found, _ in codes_of(dataset, "/s")}


def test_rows_of_the_wrong_size(tmp_path):
    body = enc.structure_body(b"\0" * 7, count=2)
    rows = data(data_body("s", enc.STRUCTURE, whole([2])), regular(body))
    with opened(tmp_path, structure_stream([D2], [enc.variable("a", enc.INT)], rows)) as dataset:
        assert "size-mismatch" in {found for found, _ in codes_of(dataset, "/s")}


def test_an_index_beyond_the_heap(tmp_path):
    body = enc.structure_body(numbers("i", [0, 5]), heap=[["a"]], count=2)
    rows = data(data_body("s", enc.STRUCTURE, whole([2]), bigend=True), regular(body))
    with opened(tmp_path, structure_stream([D2], [enc.variable("a", enc.STRING)], rows)) as dataset:
        with pytest.raises(RefbrowserError) as caught:
            np.asarray(dataset["/s"][...])
        assert caught.value.kind is ErrorKind.FORMAT


def column_of(*members):
    """Return a stream of two structures with a float `a` and a nested `k`, sent as columns."""
    inner = enc.structure("i", variables=[enc.variable("k", enc.SHORT)])
    body = enc.column_body("s", enc.STRUCTURE, whole([2]), elements=2, members=members)
    return structure_stream([D2], [enc.variable("a", enc.FLOAT)], enc.column(body), structures=[inner])


def member(name, type, letter, values):
    return enc.column_body(name, type, whole([2]), elements=2, primitives=numbers(letter, values, "<"))


A = member("a", enc.FLOAT, "f", [1, 2])
K = enc.column_body("i", enc.STRUCTURE, whole([2]), members=[member("k", enc.SHORT, "h", [3, 4])])


@pytest.mark.parametrize(
    ("members", "code", "named"),
    [
        # As many bytes as the header's type has.
        ([member("a", enc.INT, "i", [1, 2]), K], "type-mismatch", "'a' are int, in the header float"),
        ([A, member("other", enc.FLOAT, "f", [1, 2])], "unknown-variable", "no member 'other' of 's'"),
        (
            [
                A,
                enc.column_body(
                    "i", enc.STRUCTURE, whole([2]), members=[member("k", enc.FLOAT, "f", [3, 4])]
                ),
            ],
            "type-mismatch",
            "'k' are float, in the header short",
        ),
        ([A, member("i", enc.SHORT, "h", [3, 4])], "type-mismatch", "'i' are short"),
    ],
    ids=["type", "name", "nested", "structure"],
)
def test_members_of_columns_are_those_of_the_header(members, code, named, tmp_path, capsys):
    with opened(tmp_path, column_of(A, K)) as dataset:
        assert plain(dataset["/s"][...]) == [{"a": 1, "i": {"k": 3}}, {"a": 2, "i": {"k": 4}}]
    made = column_of(*members)
    with opened(tmp_path, made, "b.ncs") as dataset:
        with pytest.raises(RefbrowserError, match=named) as caught:
            np.asarray(dataset["/s"][...])
        assert caught.value.message.startswith(f"{code}: ")
    assert main(["check", str(tmp_path / "b.ncs"), "--json"]) == 2
    (fault,) = json.loads(capsys.readouterr().out)["faults"]
    assert fault["message"].startswith(f"{code}: ")
    assert fault["start"] == made.index(enc.MAGIC_DATA2)
    assert fault["stop"] == len(made) - len(enc.MAGIC_END)
    assert main(["check", str(tmp_path / "a.ncs")]) == 0


@pytest.mark.parametrize("is_column", [False, True])
def test_data_before_their_header_are_told_once_and_read(is_column, tmp_path):
    body = enc.column_body("x", enc.INT, whole([3]), elements=3, primitives=numbers("i", [1, 2, 3], "<"))
    early = enc.column(body) if is_column else GOOD
    root = group(dimensions=[N3], variables=[enc.variable("x", enc.INT, [N3])])
    made = stream(header(group()), early, early, header(root), GOOD)
    with opened(tmp_path, made) as dataset:
        (told,) = dataset.document.notes
        assert (told.severity, told.place.path) == (Severity.WARNING, "/x")
        assert told.message == "unknown-variable: its data come before any header that defines it (message 1)"
        assert plain(dataset["/x"][...]) == [1, 2, 3]
        assert not dataset.damage
    # What no header defines is a fault, and told as such alone.
    with opened(tmp_path, stream(header(group(dimensions=[N3])), early), "b.ncs") as dataset:
        assert [each.severity for each in dataset.document.notes] == [Severity.FAULT]
    # It is known as well where the stream was shorter when it was walked first.
    found = None
    for size in (len(made) - len(GOOD) - 4, len(made)):
        found = walk_stream(MemoryBytes(made[:size]), url="memory", resume=found)
    assert [fault.code for fault in found.faults] == ["unknown-variable"]


def test_a_shape_that_contradicts_its_dimension(tmp_path):
    def notes(length, *, name="n", **facts):
        shape = [dimension(name, length, **facts)]
        made = stream(header(group(dimensions=[N3], variables=[enc.variable("x", enc.INT, shape)])))
        with opened(tmp_path, made) as dataset:
            return [(each.message, each.place.path) for each in dataset.document.notes]

    assert notes(3) == []
    ((message, path),) = notes(4)
    assert message == "size-mismatch: in its shape the dimension 'n' is 4 long, which is 3 (message 0)"
    assert path == "/x"
    assert notes(4, private=True) == []


def test_a_shape_may_be_behind_an_unlimited_dimension(tmp_path):
    for said, copied in ((3, 5), (5, 3)):
        n, copy = (dimension("n", length, unlimited=True) for length in (said, copied))
        made = stream(header(group(dimensions=[n], variables=[enc.variable("x", enc.INT, [copy])])))
        with opened(tmp_path, made, f"{said}.ncs") as dataset:
            assert not dataset.document.notes
            assert dataset["/x"].shape == (5,)
