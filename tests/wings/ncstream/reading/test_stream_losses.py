"""What damaged messages may have held is lost, never missing: each element compared with a plain model."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stream_encoder as enc
from deep import examples
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import RefbrowserError
from refbrowser.io.fetching.byte_sources import MemoryBytes
from refbrowser.model.reference import ReferenceKind
from refbrowser.model.values import SourcePiece
from refbrowser.views.attributes import stored_chunks
from refbrowser.wings.ncstream.reading import sources
from refbrowser.wings.ncstream.reading.hierarchy import StreamOrigin
from refbrowser.wings.ncstream.reading.sections import spreading_of
from refbrowser.wings.ncstream.reading.walk import walk_stream
from refbrowser.wings.ncstream.views.supplied_sections import supplied_sections
from refbrowser.wings.ncstream.views.supply import LOST, NEVER, is_lost, messages_of_element, supply_of

SHAPE = (4, 3)
DIMENSIONS = [enc.dimension(name, size) for name, size in zip("yx", SHAPE, strict=True)]
NAMES = ("a", "b", "z")
HEADER = enc.header(
    enc.group(dimensions=DIMENSIONS, variables=[enc.variable(name, enc.INT, DIMENSIONS) for name in NAMES])
)
#: What is damaged: a part of one variable, all of it, or whatever was never sent.
OF_SECTION, OF_VARIABLE, OF_ANY = (
    {"size", "type", "long"},
    {"rank"},
    {"magic", "protobuf", "name", "torn", "cut"},
)


def message(name: str, box: tuple[range, range], value: int, damage: str = "") -> bytes:
    """Return a message that gives one value to a box, or a damaged one."""
    count = len(box[0]) * len(box[1])
    payload = enc.numbers("i", [value] * count)
    ranges: Any = [(each.start, len(each), each.step) for each in box]
    if damage == "rank":
        ranges = [*ranges, (0, 1, None)]
    kind = enc.FLOAT if damage == "type" else enc.INT
    body = enc.data_body("nobody" if damage == "name" else name, kind, ranges, bigend=True)
    if damage == "magic":
        return b"nonsense"
    if damage == "protobuf":
        return enc.MAGIC_DATA + enc.regular(b"\x0a\xff")
    if damage == "size":
        return enc.data(body, enc.regular(payload[:-4]))
    if damage == "long":
        return enc.MAGIC_DATA + enc.regular(body) + enc.varint(len(payload) + 1) + payload
    if damage == "torn":
        return enc.MAGIC_DATA + enc.regular(body) + enc.varint(len(payload)) + payload[:-3]
    return enc.data(body, enc.regular(payload))


axes = st.tuples(
    *(
        st.builds(
            lambda start, count, step, size=size: range(start, size, step)[:count],
            st.integers(0, size - 1),
            st.integers(1, size),
            st.integers(1, 2),
        )
        for size in SHAPE
    )
)
steps = st.tuples(
    st.sampled_from("ab"),
    axes,
    st.sampled_from(["", "", "", *sorted(OF_SECTION | OF_VARIABLE | OF_ANY - {"cut"})]),
)


def stream_of(events: list[Any], *, is_cut: bool) -> bytes:
    parts = []
    for value, (name, box, damage) in enumerate(events):
        # Sound messages part those that are damaged: none hides another.
        parts += [message(name, box, value, damage), *[message("z", (range(1), range(1)), value)] * 2]
    stream = enc.stream(HEADER, *parts, message("z", (range(4), range(3)), 99))
    return stream[:-10] if is_cut else stream


def model(events: list[Any], *, is_cut: bool) -> dict[str, Any]:
    """Return for each variable its elements: a value, `LOST` or `NEVER`."""
    found = {name: np.full(SHAPE, NEVER, np.int64) for name in "ab"}
    for value, (name, box, damage) in enumerate(events):
        if damage in OF_VARIABLE:
            found[name][:] = LOST
        elif damage in OF_SECTION or damage == "torn":
            found[name][np.ix_(*box)] = LOST
        elif not damage:
            found[name][np.ix_(*box)] = value
    if is_cut or any(damage in OF_ANY for _, _, damage in events):
        for values in found.values():
            values[values == NEVER] = LOST
    return found


def element(array: Any, place: tuple[int, int]) -> int:
    """Return an element, or what is there in its place."""
    try:
        value = int(array[place])
    except RefbrowserError:
        return LOST
    return NEVER if value == array.fill_value else value


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None, phases=[Phase.generate])
@given(events=st.lists(steps, max_size=5), is_cut=st.booleans())
def test_elements_are_values_lost_or_never_sent_as_the_model_says(
    tmp_path_factory: pytest.TempPathFactory, events: list[Any], is_cut: bool
) -> None:
    stream, wanted = stream_of(events, is_cut=is_cut), model(events, is_cut=is_cut)
    path = tmp_path_factory.mktemp("losses") / "a.ncs"
    path.write_bytes(stream)
    index = walk_stream(MemoryBytes(stream), url="memory")
    with refbrowser.open(str(path)) as dataset:
        for name, values in wanted.items():
            array = dataset[f"/{name}"]
            assert isinstance(array, refbrowser.Array)
            found = [element(array, place) for place in np.ndindex(SHAPE)]
            assert found == values.reshape(-1).tolist()
            _check_tiles(array, values)
            _check_supply(index, f"/{name}", values)
    is_damaged = is_cut or any(damage for _, _, damage in events)
    assert bool(dataset.damage) == is_damaged


def _check_tiles(array: Any, values: Any) -> None:
    """Compare what is known of tiles before they are read."""
    grid, kinds = array.node.grid, array.node.manifest.kinds()
    for coords in np.ndindex(grid.grid_shape):
        box = tuple(
            slice(at * side, at * side + side) for at, side in zip(coords, grid.chunk_shape, strict=True)
        )
        if kinds[coords] == ReferenceKind.MISSING:
            assert (values[box] == NEVER).all()
        elif kinds[coords] == ReferenceKind.FAULTY:
            assert (values[box] != NEVER).any()
            assert (values[box] < 0).all()
            columns = array.node.manifest.columns(np.array([coords], np.int64))
            with pytest.raises(RefbrowserError):
                columns.reference(0)


def _check_supply(index: Any, path: str, values: Any) -> None:
    sections = supplied_sections(index, path, SHAPE)
    supply = supply_of(sections, (0, 0), (0, 1), [range(size) for size in SHAPE])
    for place in itertools.product(*map(range, SHAPE)):
        what, givers = supply.message_at(place), messages_of_element(sections, place)
        if values[place] < 0:
            assert what == values[place]
            assert not givers
            assert is_lost(sections, place) == (what == LOST)
        else:
            # Each event is three messages, behind the header.
            assert what == givers[-1] == 1 + 3 * values[place]


def test_before_the_damage_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "a.ncs"
    whole = (range(4), range(3))
    path.write_bytes(stream_of([("a", whole, ""), ("a", whole, "rank")], is_cut=False))
    with refbrowser.open(str(path), until=3) as dataset:
        assert (dataset["/a"][...] == 0).all()
        assert (dataset["/b"][...] == dataset["/b"].fill_value).all()
        assert not dataset.damage
    with refbrowser.open(str(path)) as dataset:
        assert [each.place.path for each in dataset["/a"].damage] == ["/a"]
        assert not dataset["/b"].damage


def test_chunks_that_were_sent_again_are_references(tmp_path: Path) -> None:
    rows = [("a", (range(at, at + 1), range(3)), "") for at in (0, 1, 2, 3)]
    path = tmp_path / "a.ncs"
    path.write_bytes(stream_of([("a", rows[1][1], "size"), ("b", rows[0][1], "magic"), *rows], is_cut=False))
    with refbrowser.open(str(path)) as dataset:
        assert dataset["/a"].node.assembled is None
        assert dataset["/b"].node.assembled is not None
    path.write_bytes(stream_of([*rows, ("a", rows[1][1], "size")], is_cut=False))
    with refbrowser.open(str(path)) as dataset:
        array = dataset["/a"]
        # One tile is lost, and no other with it.
        assert array.node.grid.chunk_shape == (1, 3)
        assert array[::2].tolist() == [[0] * 3, [2] * 3]
        assert element(array, (1, 0)) == LOST


@pytest.mark.slow
def test_many_small_messages_are_read_as_runs_around_the_damaged_one(tmp_path: Path) -> None:
    count = 5000
    n = enc.dimension("n", count)
    header = enc.header(enc.group(dimensions=[n], variables=[enc.variable("v", enc.INT, [n])]))

    def one(at: int, payload: bytes) -> bytes:
        return enc.data(enc.data_body("v", enc.INT, [(at, 1, None)], bigend=True), enc.regular(payload))

    messages = [one(at, enc.numbers("i", [at])) for at in range(count)]
    messages.insert(4000, one(100, b"12"))
    path = tmp_path / "a.ncs"
    path.write_bytes(enc.stream(header, *messages, one(7, enc.numbers("i", [-7]))))
    with refbrowser.open(str(path)) as dataset:
        array = dataset["/v"]
        assert array.node.assembled.layout.is_fine
        assert array[:100].tolist() == [-7 if at == 7 else at for at in range(100)]
        assert array[101:].tolist() == list(range(101, count))
        assert element(array, (100,)) == LOST  # type: ignore[arg-type]


def test_pieces_of_very_large_parts_are_not_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    error = RefbrowserError("E_FORMAT", "lost")  # type: ignore[arg-type]
    lost = SourcePiece.lost(error, "message 1 (damaged)", (slice(0, 4),))
    sound = SourcePiece(
        reference=lost.reference, shape=(4,), inside=(slice(4),), target=(slice(0, 4),), decode=lost.decode
    )
    assert sources._but_hidden([lost, sound], (slice(0, 4),)) == [sound]
    monkeypatch.setattr(sources, "_COUNTED", 3)
    assert sources._but_hidden([lost, sound], (slice(0, 4),)) == [lost, sound]


def test_the_smallest_case_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    n = enc.dimension("n", 3)
    header = enc.header(
        enc.group(dimensions=[n], variables=[enc.variable(name, enc.INT, [n]) for name in "ab"])
    )
    payload, body = enc.numbers("i", [1, 2, 3]), enc.data_body("a", enc.INT, enc.whole([3]), bigend=True)
    long = enc.MAGIC_DATA + enc.regular(body) + enc.varint(13) + payload
    good = enc.data(enc.data_body("b", enc.INT, enc.whole([3]), bigend=True), enc.regular(payload))
    path = tmp_path / "a.ncs"
    path.write_bytes(enc.stream(header, long, good))
    start = 4 + len(header)
    where = f"bytes {start} to {start + len(long)}"
    assert main(["read", str(path), "/a", "--json"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    warned, error = said.err.splitlines()
    assert "warning[E_FORMAT]: the source is damaged: length-too-large" in warned
    assert where in warned
    error = json.loads(error)["error"]
    assert (error["kind"], error["exit_code"]) == ("E_FORMAT", 2)
    assert error["message"].startswith("length-too-large: ")
    assert "(message 1)" in error["message"]
    assert (error["place"]["start"], error["place"]["stop"]) == (start, start + len(long))
    # It took just the bytes of its section: nothing else can have been in it.
    assert main(["read", str(path), "/b", "--json"]) == 0
    said = capsys.readouterr()
    assert (json.loads(said.out), said.err) == ([1, 2, 3], "")
    assert main(["explain", str(path), "--array", "/a", "--index", "1"]) == 0
    told = capsys.readouterr().out
    assert "This element is lost: length-too-large" in told
    assert "no message supplies it" not in told
    assert main(["plan", str(path), "/a", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["missing_chunks"], plan["faulty_chunks"], plan["requests"]) == (0, 1, [])
    assert main(["info", str(path), "--json"]) == 0
    info = json.loads(capsys.readouterr().out)
    assert info["arrays"]["/a"]["missing_chunks"] == 0
    (finding,) = info["problems"]
    assert (finding["start"], finding["stop"]) == (start, start + len(long))


def test_rows_behind_a_lost_header_cost_nothing_before_them(tmp_path: Path) -> None:
    def header(length: int) -> bytes:
        n = enc.dimension("n", length, unlimited=True)
        return enc.header(enc.group(dimensions=[n], variables=[enc.variable("v", enc.INT, [n])]))

    def rows(start: int, count: int) -> bytes:
        body = enc.data_body("v", enc.INT, [(start, count, None)], bigend=True)
        return enc.data(body, enc.regular(enc.numbers("i", range(start, start + count))))

    path = tmp_path / "a.ncs"
    # A message that reaches over the end takes with it what it has in common with the array.
    for start, kept in ((3, 3), (2, 2)):
        path.write_bytes(
            enc.stream(header(3), rows(0, 3), enc.MAGIC_HEADER + enc.regular(b"\x0a\xff"), rows(start, 2))
        )
        with refbrowser.open(str(path)) as dataset:
            array = dataset["/v"]
            assert array[:kept].tolist() == list(range(kept))
            assert [element(array, (at,)) for at in range(kept, 3)] == [LOST] * (3 - kept)  # type: ignore[arg-type]


def test_a_variable_of_which_all_is_known_stays_what_references_can_say() -> None:
    events = [("a", (range(4), range(3)), ""), ("b", (range(1), range(1)), "magic")]
    index = walk_stream(MemoryBytes(stream_of(events, is_cut=False)), url="memory")
    layouts = StreamOrigin(index).layouts.by_path
    assert layouts["/a"].is_regular
    assert layouts["/a"].lost is None
    assert not layouts["/b"].is_regular


def test_tiles_end_where_what_is_lost_ends(tmp_path: Path) -> None:
    boxes = [(range(0, 2), range(3)), (range(2, 3), range(0, 2))]
    path = tmp_path / "a.ncs"
    path.write_bytes(stream_of([*(("a", box, "") for box in boxes), ("b", boxes[0], "magic")], is_cut=False))
    with refbrowser.open(str(path)) as dataset:
        array = dataset["/a"]
        found = np.array([element(array, place) for place in np.ndindex(SHAPE)]).reshape(SHAPE)
        grid = array.node.grid
        for coords in np.ndindex(grid.grid_shape):
            origin, extent = grid.origin(coords), grid.extent(coords)
            box = tuple(slice(at, at + side) for at, side in zip(origin, extent, strict=True))
            assert len(set((found[box] == LOST).reshape(-1).tolist())) == 1
        assert stored_chunks(array.node, lambda: None).lost == np.count_nonzero(
            array.node.manifest.kinds() == ReferenceKind.FAULTY
        )


def test_behind_the_end_of_a_stream_that_was_cut_may_have_been_anything() -> None:
    whole = (range(4), range(3))
    long = message("a", whole, 1, "long")
    for end, is_spread in ((b"", True), (message("z", whole, 2) * 2 + enc.MAGIC_END, False)):
        index = walk_stream(MemoryBytes(enc.MAGIC_START + HEADER + long + end), url="memory")
        # Its bytes are as many as its section takes: of those alone it would be about nothing else.
        assert (len(spreading_of(index)) > 0) == is_spread
