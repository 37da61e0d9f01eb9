"""The byte map against a model that looks at each byte: owners, gaps, overlaps, header, what a view uses."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import examples
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import refbrowser
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import RefbrowserError
from refbrowser.model.reference import ByteRange, WholeFile
from refbrowser.references.content.expansion import Expansion
from refbrowser.references.rules.gen import GenRule
from refbrowser.tools.bytes.report.byte_facts import class_words, faults_line, item_line
from refbrowser.tools.bytes.report.byte_map import ByteMap, PlaceKind, byte_maps
from refbrowser.tools.bytes.report.byte_pixels import (
    FIRST_OWNER,
    GAP,
    HEADER,
    NOTHING,
    PAST,
    ByteViewport,
    PixelLine,
    picture_of,
)
from refbrowser.tools.bytes.report.byte_runs import Lattice, LatticeStep, Runs
from refbrowser.tools.bytes.report.file_source import DOCUMENT, FileSource, FoundRanges, OwnerKind, OwnerName
from refbrowser.tools.bytes.report.target_files import FileFacts, target_files

QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
SHAPES = {"a": 4, "b": 3}


def array(size: int) -> str:
    return json.dumps(
        {
            "zarr_format": 2,
            "shape": [size],
            "chunks": [1],
            "dtype": "<i2",
            "compressor": None,
            "filters": None,
            "fill_value": 0,
            "order": "C",
        }
    )


def opened(folder: Path, refs: dict[str, Any], gen: list[Any] | None = None) -> Dataset:
    """Open a document of the arrays ``a`` (4 chunks) and ``b`` (3 chunks) with these references."""
    path = folder / "set.json"
    head = {".zgroup": '{"zarr_format": 2}', **{f"{name}/.zarray": array(n) for name, n in SHAPES.items()}}
    path.write_text(json.dumps({"version": 1, "gen": gen or [], "refs": {**head, **refs}}))
    return refbrowser.open(path)


def source_of(dataset: Dataset) -> FileSource:
    return FileSource(dataset.document, dataset.hierarchy, dataset.access, dataset.session)


def map_of(dataset: Dataset, url: str = "x.bin") -> ByteMap:
    *_, found = byte_maps(source_of(dataset), url, lambda: None)
    return found


def references(expansion: Expansion, url: str) -> Iterator[tuple[str, ByteRange | WholeFile]]:
    """Every key whose reference, the one that counts, leads to a file; keys beyond a grid of rules do not."""
    keys = {key for row in range(expansion.rows) if (key := expansion.item(row)[0]) is not None}
    for key in sorted(keys):
        try:
            found = expansion.reference(key)
        except RefbrowserError:
            continue
        if isinstance(found, ByteRange | WholeFile) and found.url == url:
            yield key, found


def label_of(key: str) -> str:
    if key.endswith((".zattrs", ".zarray")):
        return "metadata"
    name, below, _ = key.partition("/")
    return f"/{name}" if below and name in SHAPES else "keys of no array"


class Model:
    """Who holds which byte, byte by byte."""

    def __init__(self, dataset: Dataset, url: str) -> None:
        self.bytes: dict[int, list[str]] = {}
        self.count = 0
        for key, found in references(dataset.document.expansion, url):
            assert isinstance(found, ByteRange)
            self.count += 1
            for byte in range(found.offset, found.offset + found.length):
                self.bytes.setdefault(byte, []).append(key)

    def kind(self, byte: int) -> PlaceKind:
        held = self.bytes.get(byte, [])
        if len(held) > 1:
            return PlaceKind.OVERLAP
        if held:
            return PlaceKind.OWNED
        return PlaceKind.HEADER if not self.bytes or byte < min(self.bytes) else PlaceKind.GAP


offsets, lengths = st.integers(0, 40), st.integers(0, 12)
keys = st.sampled_from(["a/0", "a/1", "a/3", "b/0", "b/2", "b/.zattrs", "c/0", "a/x", "odd"])
entries = st.dictionaries(
    keys, st.tuples(st.sampled_from(["x.bin", "x.bin", "y.bin"]), offsets, lengths), max_size=8
)
rules = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(0, 30), st.integers(0, 9), st.integers(0, 7)),
    max_size=2,
)


def rule(name: str, base: int, step: int, length: int) -> dict[str, Any]:
    return {
        "key": f"{name}/{{{{i}}}}",
        "url": "x.bin",
        "offset": f"{{{{ {base} + i * {step} }}}}",
        "length": str(length),
        "dimensions": {"i": {"stop": 3}},
    }


class TestAgainstEachByte:
    @pytest.mark.slow
    @settings(phases=QUICK, max_examples=examples(200))
    @given(refs=entries, gen=rules)
    def test_owners_gaps_overlaps_and_header(
        self, refs: dict[str, tuple[str, int, int]], gen: list[Any], tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        folder = tmp_path_factory.getbasetemp()
        with opened(
            folder, {key: [*value] for key, value in refs.items()}, [rule(*each) for each in gen]
        ) as dataset:
            shown, model = map_of(dataset), Model(dataset, "x.bin")
        for byte in range(shown.end):
            item = shown.at(byte)
            held = model.bytes.get(byte, [])
            assert item.kind is model.kind(byte), byte
            assert sorted(str(shown.key(each)) for each in item.ranges) == sorted(held)
            owners = {shown.owners[each.owner].label for each in item.ranges}
            assert owners == {label_of(key) for key in held}
            assert item.extent.start <= byte < item.extent.stop
            if item.kind in (PlaceKind.GAP, PlaceKind.HEADER):
                assert all(shown.at(each).kind is item.kind for each in range(*item.extent))
        held_bytes = set(model.bytes)
        assert shown.count == model.count
        assert shown.last == max(held_bytes, default=-1) + 1
        assert shown.owned == len(held_bytes)
        assert shown.overlaps.size == sum(len(held) > 1 for held in model.bytes.values())
        edges = np.arange(shown.end + 1)
        for each in shown.classes:
            mine = [
                any(label_of(key) == each.label for key in model.bytes.get(byte, []))
                for byte in range(shown.end)
            ]
            assert np.diff(each.covered(edges)).tolist() == [int(one) for one in mine]

    @pytest.mark.slow
    @settings(phases=QUICK, max_examples=examples(120))
    @given(refs=entries, scale=st.floats(0.05, 9), pixels=st.integers(1, 27))
    def test_each_pixel_shows_what_its_bytes_are(
        self,
        refs: dict[str, tuple[str, int, int]],
        scale: float,
        pixels: int,
        tmp_path_factory: pytest.TempPathFactory,
    ) -> None:
        with opened(
            tmp_path_factory.getbasetemp(), {key: [*value] for key, value in refs.items()}
        ) as dataset:
            shown = map_of(dataset)
        low, high = PixelLine(3.0, scale).edges(0, pixels)
        picture = picture_of(shown, low, high, 6, shown.listed, shown.overlaps)
        for at in range(pixels):
            seen = set(picture.classes[:, at].tolist())
            items = [shown.at(byte) for byte in range(int(low[at]), int(high[at]))]
            owners = {each.owner for item in items for each in item.ranges}
            expected = {
                FIRST_OWNER + number for number, each in enumerate(shown.classes) if owners & {*each.owners}
            }
            # Nothing that is there is left out, but where ranges overlap: that is drawn over them.
            assert seen >= expected or len(expected) > 3 or picture.overlaps[at]
            assert {number for number in seen if number >= FIRST_OWNER} <= expected
            kinds = {item.kind for item in items}
            assert picture.overlaps[at] == (PlaceKind.OVERLAP in kinds)
            assert picture.used[at] == bool(owners)
            if not expected and len(items) == 1 and int(low[at]) < shown.end:
                assert seen == {HEADER if PlaceKind.HEADER in kinds else GAP}

    def test_what_the_view_uses(self, tmp_path: Path) -> None:
        from refbrowser.model.selection import Selection
        from refbrowser.tools.bytes.report.live_plan import ViewNeeds

        refs = {f"a/{number}": ["x.bin", 10 + number * 5, 2] for number in range(4)}
        with opened(tmp_path, refs) as dataset:
            node = dataset["/a"].node
            selection = Selection.from_text("1:3", node.shape)
            needs = ViewNeeds.of(dataset.session, node, dataset.access, selection)
        used = needs.used("x.bin")
        assert list(zip(used.start.tolist(), used.stop.tolist(), strict=True)) == [(15, 17), (20, 22)]
        assert needs.urls == ("x.bin",)
        assert len(needs.used("other.bin")) == 0


class TestWhatRefers:
    def test_an_entry_that_a_rule_replaces_holds_nothing(self, tmp_path: Path) -> None:
        gen = [{**rule("a", 100, 10, 4), "url": "y.bin"}]
        with opened(tmp_path, {"a/1": ["x.bin", 5, 6], "a/3": ["x.bin", 20, 6]}, gen) as dataset:
            shown = map_of(dataset)
            assert [str(shown.key(each)) for each in shown.within(0, 99, 9)] == ["a/3"]
            other = map_of(dataset, "y.bin")
        assert [str(other.key(each)) for each in other.within(0, 999, 9)] == ["a/0", "a/1", "a/2"]

    def test_edits_are_seen(self, tmp_path: Path) -> None:
        from refbrowser.references.edits.edits import RemoveReference, SetReference

        with opened(tmp_path, {"a/1": ["x.bin", 5, 6], "a/2": ["x.bin", 30, 6]}) as dataset:
            document = SetReference("a/0", ["x.bin", 50, 4]).apply(dataset.document)
            document = RemoveReference("a/2").apply(document)
            shown = map_of(dataset.with_document(document))
        assert [str(shown.key(each)) for each in shown.within(0, 99, 9)] == ["a/1", "a/0"]

    def test_a_whole_file_of_unknown_and_of_known_size(self, tmp_path: Path) -> None:
        with opened(tmp_path, {"a/0": ["x.bin"], "a/1": ["x.bin", 4, 2]}) as dataset:
            shown = map_of(dataset)
            assert shown.whole_count == 1
            assert shown.overlaps.size == 2
            (tmp_path / "x.bin").write_bytes(bytes(30))
            shown = map_of(dataset)
        assert shown.facts.size == shown.end == 30
        assert shown.at(20).kind is PlaceKind.OWNED

    def test_only_a_whole_file(self, tmp_path: Path) -> None:
        with opened(tmp_path, {"a/0": ["gone.bin"]}) as dataset:
            shown = map_of(dataset, "gone.bin")
        assert shown.is_nominal
        assert "size is not known" in item_line(shown.at(0), shown, None, None)

    def test_inline_values_lie_in_the_document(self, tmp_path: Path) -> None:
        with opened(tmp_path, {"a/0": "\u0000\u0001", "a/1": ["x.bin", 0, 2]}) as dataset:
            shown = map_of(dataset, DOCUMENT)
            text = Path(dataset.path).read_bytes()
        (found,) = (each for each in shown.within(0, len(text), 99) if shown.key(each) == "a/0")
        assert text[found.start : found.stop] == b'"\\u0000\\u0001"'
        assert shown.owners[found.owner].label == "/a"
        assert "metadata" in {each.label for each in shown.classes}

    def test_bytes_past_the_end_are_told(self, tmp_path: Path) -> None:
        (tmp_path / "x.bin").write_bytes(bytes(12))
        with opened(tmp_path, {"a/0": ["x.bin", 4, 4], "a/1": ["x.bin", 10, 6]}) as dataset:
            shown = map_of(dataset)
        assert shown.past_end == 4
        assert "past the end" in faults_line(shown)
        assert "past the end of the file" in item_line(shown.at(11), shown, None, None)

    def test_bytes_past_the_end_are_drawn_as_not_stored(self, tmp_path: Path) -> None:
        (tmp_path / "x.bin").write_bytes(bytes(12))
        with opened(
            tmp_path, {"a/0": ["x.bin", 4, 4], "a/1": ["x.bin", 10, 6], "a/2": ["x.bin", 18, 4]}
        ) as dataset:
            shown = map_of(dataset)
        low = np.arange(22)
        drawn = picture_of(shown, low, low + 1, 1, None, None).classes[0]
        assert (drawn[4:8] >= FIRST_OWNER).all()
        assert (drawn[10:12] >= FIRST_OWNER).all()
        assert drawn[12:].tolist() == [PAST] * 4 + [NOTHING] * 2 + [PAST] * 4
        assert shown.at(17).kind is PlaceKind.OUTSIDE

    def test_the_header_is_named_where_the_first_bytes_tell_the_format(self, tmp_path: Path) -> None:
        (tmp_path / "x.bin").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(60))
        with opened(tmp_path, {"a/0": ["x.bin", 20, 4]}) as dataset:
            shown = map_of(dataset)
        assert "superblock" in class_words(PlaceKind.HEADER, shown)
        assert shown.at(0).kind is PlaceKind.HEADER
        assert shown.at(30).kind is PlaceKind.TAIL

    def test_ranges_that_no_file_can_have_are_counted(self, tmp_path: Path) -> None:
        with opened(tmp_path, {"a/0": ["x.bin", 2**62, 2**62 + 5], "a/1": ["x.bin", 1, 1]}) as dataset:
            shown = map_of(dataset)
        assert shown.last == 2
        assert shown.count == 1

    def test_an_array_that_is_named_by_a_number(self, tmp_path: Path) -> None:
        path = tmp_path / "set.json"
        refs = {"2000/3/.zarray": array(2), "2000/3/0": ["x.bin", 0, 2], "2000/9": ["x.bin", 5, 2]}
        path.write_text(json.dumps({"version": 1, "refs": {".zgroup": '{"zarr_format": 2}', **refs}}))
        with refbrowser.open(path) as dataset:
            shown = map_of(dataset)
        assert {each.label for each in shown.classes} == {"/2000/3", "keys of no array"}


class TestFiles:
    def test_counts_and_sizes(self, tmp_path: Path) -> None:
        refs = {"a/0": ["x.bin", 0, 7], "a/1": ["y.bin"], "b/0": ["x.bin", 9, 4], "b/1": "inline"}
        with opened(tmp_path, refs, [rule("b", 100, 10, 5)]) as dataset:
            files = {file.url: file for file in target_files(source_of(dataset), lambda: None).files}
        assert (files["x.bin"].count, files["x.bin"].size) == (5, 26)
        assert (files["y.bin"].count, files["y.bin"].whole) == (0, 1)
        assert files[DOCUMENT].count == 4

    def test_files_of_a_rule(self, tmp_path: Path) -> None:
        gen = [
            {
                "key": "a/{{i}}",
                "url": "{{i // 2}}.bin",
                "offset": "{{i * 10}}",
                "length": "10",
                "dimensions": {"i": {"stop": 4}},
            }
        ]
        with opened(tmp_path, {}, gen) as dataset:
            files = {file.url for file in target_files(source_of(dataset), lambda: None).files}
            shown = map_of(dataset, "1.bin")
        assert files == {"0.bin", "1.bin", DOCUMENT}
        assert [shown.key(each) for each in shown.within(0, 99, 9)] == ["a/2", "a/3"]

    def test_an_object_of_a_store(self, tmp_path: Path) -> None:
        (tmp_path / "store" / "a").mkdir(parents=True)
        (tmp_path / "store" / ".zgroup").write_text('{"zarr_format": 2}')
        (tmp_path / "store" / "a" / ".zarray").write_text(array(4))
        (tmp_path / "store" / "a" / "2").write_bytes(b"ab")
        with refbrowser.open(tmp_path / "store") as dataset:
            files = target_files(source_of(dataset), lambda: None).files
            url = next(file.url for file in files if file.url.endswith("/a/2"))
            shown = map_of(dataset, url)
        assert [shown.key(each) for each in shown.within(0, 9, 9)] == ["a/2"]
        assert shown.facts.size == 2


steps = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 5)), max_size=3)


class TestLattice:
    @given(base=st.integers(0, 20), length=st.integers(1, 9), found=steps)
    def test_as_if_listed(self, base: int, length: int, found: list[tuple[int, int]]) -> None:
        lattice = Lattice.of(base, length, [LatticeStep(*each, slot) for slot, each in enumerate(found)])
        starts = np.array([base])
        for stride, count in found:
            starts = (starts[:, None] + stride * np.arange(count)).reshape(-1)
        starts = np.sort(starts)
        overlaps = (starts[1:] < starts[:-1] + length).any()
        if lattice is None:
            # Steps that cross each other without an overlap are left undecided.
            return
        assert not overlaps
        assert lattice.count == len(starts)
        assert lattice.stop == starts[-1] + length
        runs = Runs.of(starts, starts + length)
        edges = np.arange(lattice.stop + 3)
        assert lattice.covered(edges).tolist() == runs.covered(edges).tolist()
        for byte in range(lattice.stop + 3):
            numbers, start = lattice.place(byte)
            before = starts[starts <= byte]
            assert start == (before[-1] if len(before) else base)
            assert lattice.numbers(lattice.number(numbers)) == numbers
            assert lattice.count_below(byte) == int((starts < byte).sum())
        for low, high in ((0, 5), (base, lattice.stop), (lattice.stop // 2, lattice.stop // 2 + 1)):
            listed = [start for start in starts.tolist() if start < high and start + length > low]
            assert [start for _, start in lattice.starts(low, high, 10**6)] == listed

    def test_overlapping_steps_are_none(self) -> None:
        assert Lattice.of(0, 10, [LatticeStep(9, 3, 0)]) is None
        assert Lattice.of(0, 10, [LatticeStep(10, 3, 0), LatticeStep(25, 2, 1)]) is None


class TestSize:
    def test_a_million_ranges(self) -> None:
        """Columns and binary searches: seconds would mean an object for each range."""
        count = 1_000_000
        found = FoundRanges()
        owners = [found.number(OwnerName(OwnerKind.ARRAY, f"/v{number}")) for number in range(4)]
        found.keys.append(str)
        start = 5000 + np.arange(count) * 4100
        owner = np.array(owners, np.int32)[np.arange(count) % 4]
        began = time.process_time()
        found.add(owner, 0, np.arange(count), start, np.full(count, 4096))
        shown = ByteMap("x", found, FileFacts())
        assert time.process_time() - began < 2
        low, high = PixelLine(0.0, shown.end / 24_000).edges(0, 24_000)
        began = time.process_time()
        for _ in range(5):
            picture_of(shown, low, high, 13, shown.listed, None)
        assert time.process_time() - began < 1
        assert [each.count for each in shown.classes] == [count // 4] * 4
        assert shown.gaps == (count - 1, (count - 1) * 4)
        assert shown.key(shown.at(5000 + 4100 * 777_777).ranges[0]) == "777777"

    @settings(phases=QUICK, max_examples=examples(60))
    @given(seed=st.integers(0, 999), whole=st.booleans(), rising=st.booleans())
    def test_wide_ranges_are_found_among_many(self, seed: int, *, whole: bool, rising: bool) -> None:
        rng = np.random.default_rng(seed)
        found = FoundRanges(owners={OwnerName(OwnerKind.ARRAY, f"/v{number}"): number for number in range(3)})
        found.keys.append(str)
        size = np.where(rng.random(900) < 0.02, rng.integers(500, 900, 900), rng.integers(0, 9, 900))
        start = np.cumsum(rng.integers(0, 30, 900)) if rising else rng.integers(0, 15_000, 900)
        owner = rng.integers(0, 3, 900).astype(np.int32)
        found.add(owner, 0, np.arange(900), start, size)
        if whole:
            found.add(1, 0, np.array([900]), np.array([0]), np.array([-1]))
        shown = ByteMap("x", found, FileFacts())
        low, high = sorted(rng.integers(0, 16_000, 2).tolist())
        wide = shown.wide_within(low, high, 500, 999)
        expected = {
            (at, whose)
            for at, (first, many, whose) in enumerate(
                zip(start.tolist(), size.tolist(), owner.tolist(), strict=True)
            )
            if many >= 500 and first < high and first + many > low
        }
        expected |= {(900, 1)} if whole and high and low < shown.end else set()
        assert {(each.item, each.owner) for each in wide} == expected
        assert sum(each.size for each in shown.owners) == size.sum() + whole * shown.end
        assert len(shown.wide_within(low, high, 500, 2)) == min(len(expected), 3)

    def test_a_rule_of_a_thousand_million_rows(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        many = {
            "key": "big/{{t}}.{{y}}",
            "url": "x.bin",
            "offset": "{{4000 + t * 5000 + (9 - y) * 400}}",
            "length": "400",
            "dimensions": {"t": {"stop": 10**8}, "y": {"stop": 10}},
        }
        crossed = {**many, "key": "big/{{t}}.{{y}}", "url": "y.bin", "offset": "{{t * t + y}}"}
        path = tmp_path / "big.json"
        metadata = json.loads(array(1)) | {"shape": [10**8, 10], "chunks": [1, 1]}
        refs = {".zgroup": '{"zarr_format": 2}', "big/.zarray": json.dumps(metadata)}
        path.write_text(json.dumps({"version": 1, "gen": [crossed, many], "refs": refs}))
        monkeypatch.setattr(GenRule, "references", lambda *_: pytest.fail("rows are looked at one by one"))
        with refbrowser.open(path) as dataset:
            shown, other = map_of(dataset), map_of(dataset, "y.bin")
        assert shown.count == 10**9
        assert shown.owned == 400 * 10**9
        assert shown.last == 4000 + (10**8 - 1) * 5000 + 4000
        assert shown.at(3999).kind is PlaceKind.HEADER
        item = shown.at(4000 + 77 * 5000 + 401)
        assert item.extent == (4000 + 77 * 5000 + 400, 4000 + 77 * 5000 + 800)
        assert shown.key(item.ranges[0]) == "big/77.8"
        assert shown.at(4000 + 77 * 5000 + 4100).extent == (4000 + 77 * 5000 + 4000, 4000 + 78 * 5000)
        low, high = PixelLine(0.0, shown.end / 2000).edges(500, 1000)
        picture = picture_of(shown, low, high, 10, None, None)
        # Four fifths of the bytes are referred to: so are eight of ten pixels, one above another.
        assert (picture.classes == FIRST_OWNER).sum(axis=0).tolist() == [8] * 500
        assert other.undecided
        assert other.owned is None
        assert other.at(5).kind is PlaceKind.UNDECIDED
        assert "not decided" in faults_line(other)


class TestViewport:
    @given(size=st.integers(1, 10**12), width=st.integers(20, 2000), rows=st.integers(1, 40), data=st.data())
    def test_what_is_zoomed_at_stays_and_nothing_leaves_the_file(
        self, size: int, width: int, rows: int, data: st.DataObject
    ) -> None:
        viewport = ByteViewport()
        viewport.resize(width, rows, 1.0)
        viewport.set_size(size)
        assert viewport.is_fitted
        assert viewport.first == 0
        assert viewport.stop >= size * (1 - 1e-9)
        for _ in range(data.draw(st.integers(1, 6))):
            if data.draw(st.booleans()):
                row, x = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, width - 1))
                before = viewport.byte_at(row, x)
                viewport.zoom(data.draw(st.sampled_from([0.3, 0.8, 1.4, 5.0])), row, x)
                held = 0 < viewport.first < size - rows * viewport.row_bytes
                if held:
                    assert viewport.byte_at(row, x) == pytest.approx(before, rel=1e-6, abs=1e-3)
            else:
                viewport.pan(data.draw(st.integers(-50, 50)), data.draw(st.integers(-3000, 3000)))
            assert viewport.first >= 0
            assert viewport.first <= size
            byte = data.draw(st.integers(0, size - 1))
            viewport.show(byte)
            row, x = viewport.place_of(byte + 0.5)
            assert 0 <= row < rows
            assert -1e-6 <= x <= width

    def test_parts_of_pixels_add_up(self) -> None:
        viewport = ByteViewport()
        viewport.resize(100, 2, 1.0)
        viewport.set_size(100_000)
        viewport.scale, viewport.first = 3.5, 7000.0
        seen = []
        for _ in range(10):
            viewport.pan(0, -0.4)
            seen.append((viewport.first - 7000.0) / 3.5)
        assert seen == [0, 1, 1, 2, 2, 2, 3, 3, 4, 4]
        viewport.look_at(60_000)
        assert (viewport.first - 7000.0) % 3.5 == 0
        assert abs(viewport.byte_at(1, 0) - 60_000) <= 3.5 / 2

    def test_rows_of_an_extent(self) -> None:
        viewport = ByteViewport()
        viewport.resize(10, 3, 1.0)
        viewport.set_size(30)
        assert viewport.scale == 1.0
        assert viewport.row_parts(4, 25) == [(0, 4.0, 10.0), (1, 0.0, 10.0), (2, 0.0, 5.0)]
        assert viewport.row_parts(10, 20) == [(1, 0.0, 10.0)]
        assert viewport.row_parts(40, 50) == []
