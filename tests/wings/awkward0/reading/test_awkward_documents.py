from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
from awkward0_built import array_of, layout_of
from awkward0_construct import Construct
from awkward0_constructs import CONSTRUCTS
from awkward0_encoder import Encoder, function, zipped
from awkward0_values import same

import refbrowser
from refbrowser.errors import Severity
from refbrowser.formats.references import hierarchy_of
from refbrowser.model.nested import Buffer
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.model.reference import WholeFile
from refbrowser.references.edits.edits import SetReference
from refbrowser.wings.awkward0.layouts.layouts import NumpyLayout
from refbrowser.wings.awkward0.reading import buffers
from refbrowser.wings.awkward0.reading.array_document import findings_of, form_of


def opened(tmp_path: Path, **roots: Any) -> refbrowser.Dataset:
    """Open a file of arrays that functions of an encoder make."""
    members: dict[str, bytes] = {}
    for name, make in roots.items():
        encoder = Encoder(name)
        members |= encoder.members(make(encoder))
    path = tmp_path / "x.awkd"
    path.write_bytes(zipped(members))
    return refbrowser.open(path)


def entry(dataset: refbrowser.Dataset, key: str) -> Any:
    return json.loads(dataset.document.to_bytes())["refs"].get(key)


def test_lists_are_groups_of_their_buffers(tmp_path: Path) -> None:
    with opened(tmp_path, one=lambda e: e.jagged([2, 1], [1.0, 2.0, 3.0])) as dataset:
        node = dataset.hierarchy.root
        assert isinstance(node, GroupNode)
        group = node.groups["one"]
        assert list(group.arrays) == ["node4-counts", "node2-data"]
        attributes = json.loads(entry(dataset, "one/.zattrs"))
        assert attributes["awkward0_name"] == "one"
        assert attributes["awkward_length"] == 2
        assert attributes["awkward0_schema"]["schema"]["call"][1] == "JaggedArray"
        assert json.loads(attributes["awkward_form"])["form_key"] == "node4"
        assert entry(dataset, "one/node2-data/0") == ["zip://one-2.raw::{{u}}"]
        assert dataset["/one/node2-data"][...].tolist() == [1.0, 2.0, 3.0]


def test_what_the_format_keeps_for_itself_is_no_attribute_of_users(tmp_path: Path) -> None:
    """Neither of the file nor after an edit, when the text of the document is all that tells."""
    names = {"awkward0_name", "awkward0_schema", "awkward_length", "awkward_form"}
    with opened(
        tmp_path,
        one=lambda e: e.jagged([2, 1], [1.0, 2.0, 3.0]),
        two=lambda e: e.basic([1, 2], "<i2"),
        three=lambda e: e.value({"k": 1}),
    ) as dataset:
        document = SetReference("two/note", "text").apply(dataset.document)
        for root in (dataset.hierarchy.root, hierarchy_of(document).root):
            assert isinstance(root, GroupNode)
            group, array = root.groups["one"], root.arrays["two"]
            assert (dict(group.attributes), dict(array.attributes)) == ({}, {})
            assert set(group.internal_attributes) == names
            assert set(array.internal_attributes) == names - {"awkward_form"}
            assert group.internal_attributes["awkward0_schema"]["schema"]["call"][1] == "JaggedArray"
            assert group.internal_attributes["awkward_length"] == 2
            # A value that nothing else shows stays.
            assert root.groups["three"].attributes == {"awkward0_value": {"k": 1}}
        assert document.known is None


def test_basic_arrays_are_plain(tmp_path: Path) -> None:
    with opened(
        tmp_path, one=lambda e: e.basic([[1, 2], [3, 4]], ">i2", codecs=["zlib.decompress"])
    ) as dataset:
        array = dataset["/one"]
        assert (array.shape, array.node.internal_attributes["awkward0_name"]) == ((2, 2), "one")
        assert json.loads(entry(dataset, "one/.zarray"))["compressor"]["id"] == "zlib"
        assert array[...].tolist() == [[1, 2], [3, 4]]


def test_codecs_stand_in_the_order_of_zarr(tmp_path: Path) -> None:
    codecs = ["zlib.decompress", "lzma.decompress", "lz4.block.decompress"]
    with opened(tmp_path, one=lambda e: e.basic([1.5, 2.5], codecs=codecs)) as dataset:
        said = json.loads(entry(dataset, "one/.zarray"))
        assert said["compressor"]["id"] == "zlib"
        assert [each["id"] for each in said["filters"]] == ["lz4", "lzma"]
        assert dataset["/one"][...].tolist() == [1.5, 2.5]


@pytest.mark.parametrize(("count", "chunks"), [(10, 2), (11, 1), (12, 3), (4, 1), (40, 10)])
def test_large_blobs_are_cut_evenly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, chunks: int
) -> None:
    monkeypatch.setattr(buffers, "_CHUNK", 32)
    values = np.arange(float(count))
    with opened(tmp_path, one=lambda e: e.basic(values, offset=8)) as dataset:
        size = 8 * count // chunks
        found = [entry(dataset, f"one/{at}") for at in range(chunks + 1)]
        assert [each and each[1:] for each in found] == [[8 + at * size, size] for at in range(chunks)] + [
            None
        ]
        assert dataset["/one"][...].tolist() == values.tolist()
        assert dataset["/one"][count - 3 : count].tolist() == values[-3:].tolist()


def test_enormous_blobs_are_cut_into_a_bounded_number() -> None:
    for count in (2**40, 2**40 + 1, 6_700_417 * 2**20):
        layout = NumpyLayout(buffer=Buffer(WholeFile("/x"), np.dtype("u1"), count))
        (made,) = buffers.buffer_arrays(layout)
        assert made.chunks <= 4 * 4096
        assert count % made.rows == 0


def test_what_is_compressed_after_other_bytes_is_an_error_and_no_fill(tmp_path: Path) -> None:
    def make(e: Encoder) -> Any:
        return e.jagged([1, 1], e.basic([1.5, 2.5], offset=8, codecs=["zlib.decompress"]))

    with opened(tmp_path, one=make) as dataset:
        with pytest.raises(refbrowser.RefbrowserError):
            dataset[_data(dataset)][...]
        assert any("compressed" in each.message for each in dataset.document.findings)
        assert ak.to_list(dataset["/one"].to_awkward()) == [[1.5], [2.5]]


@pytest.mark.parametrize("value", [0.4, -1, 2**63, True, "angular", "é", "", float("nan")])
def test_plain_values_are_arrays_without_dimensions(tmp_path: Path, value: Any) -> None:
    with opened(tmp_path, one=lambda e: {"json": value}) as dataset:
        array = dataset["/one"]
        assert array.shape == ()
        assert repr(array[...].item()) == repr(value)


@pytest.mark.parametrize("value", [None, [1, 2], {"a": 1}, 2**70, "x\0"])
def test_other_plain_values_are_attributes(tmp_path: Path, value: Any) -> None:
    with opened(tmp_path, one=lambda e: {"json": value}) as dataset:
        group = dataset.hierarchy.find("/one")
        assert isinstance(group, GroupNode)
        assert json.loads(entry(dataset, "one/.zattrs"))["awkward0_value"] == value


def test_literals_that_stand_in_the_schema_are_inline(tmp_path: Path) -> None:
    def make(e: Encoder) -> Any:
        return e.make("JaggedArray.fromcounts", {"json": [1, 2]}, {"json": [1.5, 2.5, 3.5]})

    with opened(tmp_path, one=make) as dataset:
        assert ak.to_list(dataset["/one"].to_awkward()) == [[1.5], [2.5, 3.5]]
        assert dataset[_data(dataset)][...].tolist() == [1.5, 2.5, 3.5]


def _data(dataset: refbrowser.Dataset) -> str:
    return next(path for path in dataset.arrays if path.endswith("-data"))


def test_braces_in_names_reach_their_member(tmp_path: Path) -> None:
    encoder = Encoder("a{b}{{c}}")
    members = encoder.members(encoder.jagged([1], [1.5]))
    path = tmp_path / "{{u}}{x}.awkd"
    path.write_bytes(zipped(members))
    with refbrowser.open(path) as dataset:
        assert dataset[_data(dataset)][...].tolist() == [1.5]


def test_findings_of_broken_parts(tmp_path: Path) -> None:
    encoder = Encoder()
    root = encoder.table(
        a=[1, 2],
        b={"ref": 77},
        c=encoder.call(["os", "system"], "x"),
        d={"json": 1, "ref": 2},
        e={"python": "*"},
    )
    found = findings_of(array_of(root, encoder))
    assert {(each.place.pointer, str(each.kind)) for each in found} == {
        ("/schema/args/0/pairs/1/1", "E_SCHEMA"),
        ("/schema/args/0/pairs/2/1", "E_UNSAFE"),
        ("/schema/args/0/pairs/3/1", "E_SCHEMA"),
        ("/schema/args/0/pairs/4/1", "E_SCHEMA"),
    }
    assert all(each.severity is Severity.FAULT for each in found)
    assert {(each.place.path, each.place.key) for each in found} == {("/one", "one.json")}


def test_findings_by_the_age_of_the_writer() -> None:
    encoder = Encoder()
    root = encoder.jagged([1], [1.5, 2.5])
    assert len(findings_of(array_of(root, encoder, awkward0="0.12.3"))) == 1
    assert findings_of(array_of(root, encoder, awkward0="0.13.0")) == ()
    assert findings_of(array_of(encoder.basic([1]), encoder, awkward0="0.12.3")) == ()


def test_parts_that_cannot_be_read_say_why(tmp_path: Path) -> None:
    def make(e: Encoder) -> Any:
        virtual = e.make("VirtualArray", function("os", "system"), {"tuple": [{"json": "true"}]})
        inner = e.table(x=[1, 2], lost={"ref": 77}, system=e.call(["os", "system"], "x"), virtual=virtual)
        return e.jagged([1, 1], inner)

    with opened(tmp_path, one=make) as dataset:
        kinds = {}
        for name in ("lost", "system", "virtual"):
            node = dataset.hierarchy.find(f"/one/{name}")
            assert isinstance(node, ArrayNode)
            error = node.unreadable or node.error
            kinds[name] = str(error.kind) if error is not None else None
        messages = "\n".join(each.message for each in dataset.document.findings)
        assert messages.count("os.system") == 2
    # Lists of what cannot be read have a type: their lengths are known.
    with opened(tmp_path, one=lambda e: make(e)["args"][1]) as dataset:
        errors = [dataset.hierarchy.find(f"/one/{name}").unreadable for name in kinds]  # type: ignore[union-attr]
        assert [str(error.kind) for error in errors if error] == ["E_SCHEMA", "E_UNSAFE", "E_UNSAFE"]


# -- forms


def restored(dataset: refbrowser.Dataset, path: str) -> Any:
    attributes = json.loads(entry(dataset, f"{path[1:]}/.zattrs"))
    if "awkward_form" not in attributes:
        return None

    class Buffers:
        def __getitem__(self, name: str) -> Any:
            owner, _, role = name.rpartition("-")
            if isinstance(dataset.hierarchy.find(f"{path}/{name}"), ArrayNode):
                return dataset[f"{path}/{name}"][...]
            if role == "offsets":
                counts = dataset[f"{path}/{owner}-counts"][...]
                return np.concatenate([[0], np.cumsum(counts)]).astype("i8")
            tags = dataset[f"{path}/{owner}-tags"][...]
            return np.array([np.count_nonzero(tags[:at] == tag) for at, tag in enumerate(tags)], "i8")

    return ak.from_buffers(attributes["awkward_form"], attributes["awkward_length"], Buffers())


@pytest.mark.long
def test_forms_restore_the_arrays(tmp_path: Path) -> None:
    members: dict[str, bytes] = {}
    cases: dict[str, Construct] = {}
    for number, construct in enumerate(CONSTRUCTS):
        # Awkward shows bytes that are no text in its own way.
        if construct.options or "undecodable" in construct.name:
            continue
        name = f"c{number:03}"
        encoder = construct.encoder(name)
        try:
            members |= encoder.members(construct.make(encoder))
        except TypeError:
            continue
        cases[f"/{name}"] = construct
    path = tmp_path / "x.awkd"
    path.write_bytes(zipped(members))
    with_form = 0
    with refbrowser.open(path) as dataset:
        for place, construct in cases.items():
            if not isinstance(dataset.hierarchy.root.groups.get(place[1:]), GroupNode):  # type: ignore[union-attr]
                continue
            array = restored(dataset, place)
            if array is not None:
                with_form += 1
                assert same(ak.to_list(array), construct.values), construct.name
    assert with_form > 40


@pytest.mark.parametrize("dtype", [">f8", "i2", "S3", "U3"])
def test_there_is_no_form_where_buffers_would_have_to_change(dtype: str) -> None:
    encoder = Encoder()
    values: Any = ["a"] if dtype[0] in "SU" else [1]
    index = encoder.basic([0, 1], dtype) if dtype == "i2" else encoder.basic([0, 1])
    content = encoder.basic(values, dtype)
    assert form_of(layout_of(encoder.make("JaggedArray.fromoffsets", index, content), encoder)) is None


def test_names_that_are_taken_have_no_form(tmp_path: Path) -> None:
    def make(e: Encoder) -> Any:
        return e.make("JaggedArray.fromiter", {"json": [[[1], []], [[2, 3]]]})

    with opened(tmp_path, one=make) as dataset:
        assert ak.to_list(dataset["/one"].to_awkward()) == [[[1], []], [[2, 3]]]
        assert "awkward_form" not in json.loads(entry(dataset, "one/.zattrs"))
