"""Arrays assembled from messages that lie over each other anyhow, against numpy."""

from __future__ import annotations

import zlib
from functools import partial
from math import prod

import numpy as np
import pytest
import stream_encoder as encode
from hypothesis import given
from hypothesis import strategies as st

import refbrowser
from refbrowser.engine.reading import pieces
from refbrowser.engine.reading.parts import PartState
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.selection import Selection
from refbrowser.wings.ncstream.reading import stream_layouts as layouts

FILL = -32767


def stream_of(shape, messages, immediate=None, attributes=()):
    """Return a stream of one variable ``x`` of shorts, and `messages` of it."""
    names = [encode.dimension(f"d{axis}", size) for axis, size in enumerate(shape)]
    variable = encode.variable("x", encode.SHORT, names, attributes, immediate=immediate)
    return encode.stream(encode.header(encode.group(dimensions=names, variables=[variable])), *messages)


def message(section, values, *, deflate=False, bigend=None, crc32=None, damage=0):
    order = ">" if bigend in (None, True) else "<"
    payload = np.asarray(values, order + "i2").tobytes()
    payload = zlib.compress(payload) if deflate else payload
    checksum = None if crc32 is None else encode.crc32_of(payload) + crc32
    body = encode.data_body(
        "x",
        encode.SHORT,
        [(each.start, len(each), each.step) for each in section],
        bigend=bigend,
        compress=int(deflate) or None,
        crc32=checksum,
    )
    return encode.data(body, encode.regular(payload[: len(payload) - damage]))


def opened(tmp_path, data):
    path = tmp_path / "x.ncs"
    path.write_bytes(data)
    return refbrowser.open(path)


@st.composite
def sections(draw, shape):
    found = []
    for size in shape:
        start = draw(st.integers(0, size - 1))
        step = draw(st.integers(1, 3))
        count = draw(st.integers(1, (size - 1 - start) // step + 1))
        found.append(range(start, start + (count - 1) * step + 1, step))
    return tuple(found)


@st.composite
def streams(draw):
    shape = tuple(draw(st.lists(st.integers(1, 7), min_size=0, max_size=3)))
    expected = np.full(shape, FILL, np.int16)
    messages = []
    for number in range(draw(st.integers(0, 6))):
        section = draw(sections(shape))
        values = np.arange(1, 1 + np.prod([len(each) for each in section], dtype=int)) + 1000 * number
        values = values.reshape([len(each) for each in section]).astype(np.int16)
        expected[np.ix_(*section) if shape else ()] = values
        messages.append(
            message(
                section,
                values,
                deflate=draw(st.booleans()),
                bigend=draw(st.sampled_from([None, True, False])),
            )
        )
    selected = tuple(
        slice(draw(st.integers(0, size - 1)), draw(st.integers(1, size)), draw(st.integers(1, 3)))
        for size in shape
    )
    return shape, messages, expected, selected


@pytest.mark.slow
@given(streams())
def test_what_overlapping_messages_give_is_what_numpy_gives(tmp_path_factory, made):
    shape, messages, expected, selected = made
    folder = tmp_path_factory.mktemp("streams")
    with opened(folder, stream_of(shape, messages)) as dataset:
        array = dataset["/x"]
        assert np.array_equal(np.asarray(array), expected)
        assert np.array_equal(np.asarray(array[selected]), expected[selected])
        # From the cache.
        assert np.array_equal(np.asarray(array), expected)


@pytest.mark.slow
@given(streams())
def test_small_spans_and_tiles_change_nothing(tmp_path_factory, made):
    shape, messages, expected, selected = made
    folder = tmp_path_factory.mktemp("streams")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "WHOLE_LIMIT", 4)
        patch.setattr("refbrowser.wings.ncstream.reading.sections._LEAST", 1)
        patch.setattr("refbrowser.wings.ncstream.reading.sources._FEW", 2)
        with opened(folder, stream_of(shape, messages)) as dataset:
            node = dataset["/x"].node
            assert np.array_equal(np.asarray(dataset["/x"][selected]), expected[selected])
            assert np.array_equal(np.asarray(dataset["/x"]), expected)
            kinds = node.manifest.kinds()
            assert node.manifest.stored() == np.count_nonzero(kinds)
            every = (
                np.stack([each.ravel() for each in np.indices(kinds.shape)], axis=1)
                if shape
                else np.zeros((1, 0), int)
            )
            assert (node.manifest.columns(every).kind > 0).tolist() == (kinds.ravel() > 0).tolist()


def test_regular_messages_are_plain_references(tmp_path):
    tiles = [message((range(at, at + 2), range(3)), [[at] * 3] * 2, bigend=True) for at in (0, 4, 0)]
    with opened(tmp_path, stream_of((6, 3), tiles)) as dataset:
        node = dataset["/x"].node
        assert node.assembled is None
        assert node.grid.chunk_shape == (2, 3)
        assert node.manifest.stored() == 2
        assert np.asarray(dataset["/x"])[:, 0].tolist() == [0, 0, FILL, FILL, 4, 4]
        offsets = node.manifest.columns(np.array([[0, 0], [2, 0]])).offset
        # The last message of the first tile counts, not the first one.
        assert offsets[0] > offsets[1]


@pytest.mark.parametrize("crc32", [0, 1])
@pytest.mark.parametrize("size", [3, 4])
def test_checksums_are_warnings_and_values_stay(tmp_path, crc32, size):
    # Of 4 rows the tiles of 2 are whole, of 3 the last one is short.
    tiles = [
        message((range(0, 2),), [1, 2], crc32=crc32),
        message((range(2, size),), [3, 4][: size - 2], crc32=crc32),
    ]
    with opened(tmp_path, stream_of((size,), tiles)) as dataset:
        assert (dataset["/x"].node.assembled is None) == (size == 4)
        assert np.asarray(dataset["/x"]).tolist() == [1, 2, 3, 4][:size]
        warnings = dataset.access.memory.warnings
        assert len(warnings) == 2 * crc32
        assert all(each.message.startswith("crc32: ") for each in warnings)


def test_one_bad_message_fails_its_tile_and_no_other(tmp_path):
    tiles = [message((range(at, at + 2),), [at, at], deflate=True, damage=3 * (at == 2)) for at in (0, 2, 4)]
    with opened(tmp_path, stream_of((5,), [*tiles[:2], message((range(4, 5),), [4])])) as dataset:
        node = dataset["/x"].node
        states = []
        out = np.zeros(5, "i2")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(layouts, "read_chunk_shape", partial(layouts.read_chunk_shape, least=1))
            node = refbrowser.open(tmp_path / "x.ncs")["/x"].node
        dataset.session.read(
            node, dataset.access, Selection.whole((5,)), out=out, on_part=lambda piece: states.append(piece)
        )
        failed = {piece.part.coords[0]: piece.error for piece in states if piece.state is PartState.FAILED}
        assert list(failed) == [1]
        assert failed[1].kind is ErrorKind.FORMAT
        assert failed[1].message.startswith("deflate: ")
        assert (out[:2].tolist(), out[4:].tolist()) == ([0, 0], [4])
        with pytest.raises(RefbrowserError, match="deflate: "):
            np.asarray(dataset["/x"])


def test_a_faulty_message_hides_no_element_that_it_did_not_write(tmp_path):
    good = message((range(0, 4),), [1, 2, 3, 4])
    bad = message((range(1, 3),), [8, 9], damage=2)
    with opened(tmp_path, stream_of((4,), [bad, good])) as dataset:
        assert np.asarray(dataset["/x"]).tolist() == [1, 2, 3, 4]
    with opened(tmp_path, stream_of((4,), [good, bad])) as dataset:
        assert (dataset["/x"][:1].tolist(), dataset["/x"][3:].tolist()) == ([1], [4])
        with pytest.raises(RefbrowserError, match="size-mismatch"):
            dataset["/x"][1:3]
    alone = stream_of((4,), [message((range(0, 2),), [1, 2]), bad])
    with opened(tmp_path, alone) as dataset, pytest.raises(RefbrowserError, match="size-mismatch"):
        np.asarray(dataset["/x"])


def test_immediate_data_are_the_first_message(tmp_path):
    data = encode.numbers("h", [5, 6, 7])
    with opened(tmp_path, stream_of((3,), [], immediate=data)) as dataset:
        assert dataset["/x"].node.assembled is None
        assert np.asarray(dataset["/x"]).tolist() == [5, 6, 7]
    with opened(
        tmp_path, stream_of((3,), [message((range(1, 2),), [9], bigend=False)], immediate=data)
    ) as dataset:
        assert np.asarray(dataset["/x"]).tolist() == [5, 9, 7]
        assert dataset["/x"][1:].tolist() == [9, 7]


def test_only_the_bytes_that_are_needed_are_read(tmp_path):
    values = np.arange(300_000).astype("i2")
    whole = message((range(1, 300_001),), values)
    with opened(tmp_path, stream_of((300_001,), [whole])) as dataset:
        array = dataset["/x"]
        assert array.node.assembled is not None
        plan = array.plan(Selection.from_text("7:20", array.shape))
        assert sum(stop - start for _, start, stop in plan.requests) == 2 * 13
        assert array[7:20].tolist() == values[6:19].tolist()
        assert np.array_equal(np.asarray(array)[1:], values)
        assert np.asarray(array)[0] == FILL


def test_tiles_are_neither_tiny_nor_huge(tmp_path):
    messages = [message((range(at, at + 1), range(0, 7)), [[at] * 7]) for at in range(0, 3000, 2)]
    sparse = [message((range(2), range(0, 1)), [[1], [2]])]
    with opened(tmp_path, stream_of((3001, 8), [*messages, *sparse])) as dataset:
        assert dataset["/x"].node.grid.size < 10
    large = np.zeros((2000, 2000), "i2")
    over = message((range(0, 1), range(0, 1)), [[1]])
    with opened(
        tmp_path, stream_of((2000, 2000), [message((range(2000), range(2000)), large), over])
    ) as dataset:
        assert dataset["/x"].node.grid.chunk_shape == (1048, 2000)


def test_the_stream_as_it_was_after_a_message(tmp_path):
    path = tmp_path / "x.ncs"
    path.write_bytes(stream_of((3,), [message((range(at, at + 1),), [at + 1]) for at in range(3)]))
    for until, expected in ((0, [FILL] * 3), (2, [1, 2, FILL]), (9, [1, 2, 3])):
        with refbrowser.open(path, until=until) as dataset:
            assert np.asarray(dataset["/x"]).tolist() == expected


@pytest.mark.parametrize(
    ("version", "bigend", "chosen", "expected"),
    [
        (None, None, None, ">"),
        (None, True, None, ">"),
        (None, False, None, "<"),
        (1, False, None, "<"),
        (2, False, None, ">"),
        (3, False, None, ">"),
        (3, None, None, "<"),
        (3, True, None, ">"),
        (2, False, "flag", "<"),
        (3, None, "flag", ">"),
        (None, True, "little", "<"),
        (None, False, "big", ">"),
    ],
)
def test_the_rule_of_byte_order(tmp_path, version, bigend, chosen, expected):
    body = encode.data_body("x", encode.SHORT, [(0, 2, None)], bigend=bigend, version=version)
    path = tmp_path / "x.ncs"
    path.write_bytes(stream_of((2,), [encode.data(body, encode.regular(b"\0\1\2\0"))]))
    with refbrowser.open(path, byte_order=chosen) as dataset:
        array = dataset["/x"]
        assert array.dtype == np.dtype(expected + "i2")
        assert np.asarray(array).tolist() == ([1, 512] if expected == ">" else [256, 2])


def objects_stream(variable, type, count, part, shape=None):
    names = [encode.dimension("n", count)]
    root = encode.group(dimensions=names, variables=[variable])
    ranges = [(0, count, None)]
    return encode.stream(
        encode.header(root), encode.data(encode.data_body("v", type, ranges, bigend=True), part)
    )


def bytes_planned(array, text):
    plan = array.plan(Selection.from_text(text, array.shape))
    return sum(stop - start for _, start, stop in plan.requests)


@pytest.mark.parametrize("select", ["9000", "4095:4097", "0:10:3", "19990:20000", "8191:8193", "4096:8192"])
def test_a_part_of_many_objects_is_read_without_the_rest(tmp_path, select):
    count = 20_000
    texts = [f"text {number}" * (number % 3) for number in range(count)]
    size = [encode.dimension("n", count)]
    data = objects_stream(
        encode.variable("v", encode.STRING, size), encode.STRING, count, encode.objects(texts)
    )
    with opened(tmp_path, data) as dataset:
        array = dataset["/v"]
        selection = Selection.from_text(select, array.shape)
        found = array.read(selection)[()]
        assert (found if isinstance(found, str) else found.tolist()) == texts[parsed(select)]
        assert bytes_planned(array, select) < len(data) / 2
        assert array[:].tolist() == texts


def parsed(text):
    parts = [int(part) for part in text.split(":")]
    return parts[0] if len(parts) == 1 else slice(*parts)


@pytest.mark.slow
def test_a_part_of_a_long_sequence_is_read_without_the_rest(tmp_path):
    member = encode.variable("a", encode.INT)
    # Payloads that look like the end of a sequence are no end.
    values = [number if number % 5000 else -303042598 for number in range(15_000)]
    bodies = [
        encode.structure_body(encode.numbers("i", values[at : at + 3]), count=3)
        for at in range(0, len(values), 3)
    ]
    root = encode.group(structures=[encode.structure("v", encode.SEQUENCE, variables=[member])])
    body = encode.data_body("v", encode.SEQUENCE, bigend=True)
    data = encode.stream(encode.header(root), encode.data(body, encode.sequence(bodies)))
    with opened(tmp_path, data) as dataset:
        array = dataset["/v"]
        assert array.shape == (15_000,)
        assert array[:]["a"].tolist() == values
        assert array[12_287:12_290]["a"].tolist() == values[12_287:12_290]
        assert array[14_999]["a"] == values[14_999]
        assert bytes_planned(array, "14999") < len(data) / 2


def test_rows_of_their_own_length_in_several_messages(tmp_path):
    rows = encode.variable("v", encode.SHORT, [encode.dimension("n", 5), encode.VLEN])
    root = encode.group(dimensions=[encode.dimension("n", 5)], variables=[rows])

    def given(start, *values):
        body = encode.data_body("v", encode.SHORT, [(start, len(values), None)], bigend=True, vdata=True)
        return encode.data(body, encode.objects([encode.numbers("h", row) for row in values]))

    data = encode.stream(encode.header(root), given(0, [1], [2, 2]), given(1, [3, 3, 3], []), given(4, [5]))
    with opened(tmp_path, data) as dataset:
        found = dataset["/v"][:]
        assert [row.tolist() for row in found] == [[1], [3, 3, 3], [], [], [5]]
        assert dataset["/v"][1].tolist() == [3, 3, 3]
        assert [row.dtype for row in found] == [np.dtype(">i2")] * 5


def test_a_variable_that_grew_keeps_its_immediate_data(tmp_path):
    def header(length, **more):
        time = encode.dimension("time", length, unlimited=True)
        variable = encode.variable("x", encode.SHORT, [time], **more)
        return encode.header(encode.group(dimensions=[time], variables=[variable]))

    first = header(2, immediate=encode.numbers("h", [1, 2]))
    grown = encode.header(encode.group(dimensions=[encode.dimension("time", 4, unlimited=True)]))
    data = encode.stream(first, grown, message((range(3, 4),), [4], bigend=True))
    with opened(tmp_path, data) as dataset:
        assert np.asarray(dataset["/x"]).tolist() == [1, 2, FILL, 4]


@pytest.mark.parametrize(
    ("index", "most"),
    [
        (np.s_[:], 8),
        (np.s_[3], 1),
        (np.s_[100:140], 1),
        (np.s_[::7], 42),
        (np.s_[126:130, 1], 1),
        (np.s_[::-1], 8),
        (np.s_[5:5], 0),
        (np.s_[-1, 2:], 1),
    ],
)
def test_many_small_messages_are_read_together(tmp_path, monkeypatch, index, most):
    monkeypatch.setattr("refbrowser.wings.ncstream.reading.stream_layouts.MANY", 100)
    count = 300
    expected = np.arange(count * 3, dtype="i2").reshape(count, 3)
    messages = []
    for at in range(count):
        if at not in (7, 8, 200):
            messages.append(message((range(at, at + 1), range(3)), expected[at : at + 1], bigend=True))
    # One that comes late, one that is far from its neighbours, and one that counts instead of another.
    messages.append(message((range(8, 9), range(3)), expected[8:9], bigend=True))
    messages.append(message((range(250, 251), range(3)), expected[250:251] * -1, bigend=True))
    expected[[7, 200]] = FILL
    expected[250] *= -1
    with opened(tmp_path, stream_of((count, 3), messages)) as dataset:
        array = dataset["/x"]
        assert array.node.assembled is not None
        selection = Selection.from_index(index, array.shape)
        assert np.array_equal(array.read(selection), expected[index])
        assert len(array.plan(selection).requests) <= most


def test_small_messages_with_checksums_stay_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr("refbrowser.wings.ncstream.reading.stream_layouts.MANY", 2)
    tiles = [message((range(at, at + 1),), [at], crc32=0, bigend=True) for at in range(4)]
    with opened(tmp_path, stream_of((4,), tiles)) as dataset:
        assert dataset["/x"].node.assembled is None


def test_what_was_never_sent_of_small_messages_costs_nothing(tmp_path):
    count = 10**9
    tiles = [message((range(at, at + 1),), [at % 100], bigend=True) for at in (0, 5, count - 1)]
    with opened(tmp_path, stream_of((count,), tiles)) as dataset:
        array = dataset["/x"]
        assert prod(array.node.grid.grid_shape) < 10**5
        assert array[:7].tolist() == [0, *[FILL] * 4, 5, FILL]
        assert array[-2:].tolist() == [FILL, 99]
