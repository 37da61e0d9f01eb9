"""DMR++ opens as references into the file that it describes, whatever of DMR++ 1.0.0 it says."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from dmrpp_made import HEAD, dmrpp_of
from servers.http_server import HttpServer

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ByteRange
from refbrowser.wings.dmrpp.reading.dmr_text import read_dmr
from refbrowser.wings.dmrpp.reading.opening import place_of

VALUES = np.random.default_rng(5).normal(280, 9, (90, 180)).astype("f4")


def write_file(path: Path) -> Path:
    with h5py.File(path, "w") as file:
        file.attrs["title"] = "days"
        file.attrs["dims_made"] = np.array([[b"lat", b"90"], [b"lon", b"180"]])
        packed: dict[str, Any] = {"compression": "gzip", "compression_opts": 7, "shuffle": True}
        array = file.create_dataset("t", data=VALUES, chunks=(32, 64), fletcher32=True, **packed)
        array.attrs["units"] = "K"
        array.attrs["_FillValue"] = np.float32(-9999)
        array.attrs["dims_named"] = "/lat /lon"
        file.create_dataset("plain", data=np.float64(2.5))
        group = file.create_group("g")
        group.create_dataset("contiguous", data=np.arange(10, dtype=">i2"))
        holes = group.create_dataset("holes", shape=(10, 10), dtype="i4", chunks=(5, 5), fillvalue=7)
        holes[:5, :5] = 3
        group.create_dataset("empty", shape=(4,), dtype="u1", chunks=(2,), fillvalue=9)
    return path


def described(
    folder: Path, variable: str, *, version: str = 'dmrpp:version="3.21"', head: str = HEAD
) -> Path:
    """Write a description with one variable of a file of 256 bytes."""
    (folder / "a.h5").write_bytes(bytes(range(256)))
    path = folder / "a.h5.dmrpp"
    path.write_text(f'{head}name="a.h5" dmrpp:href="a.h5" {version}>\n{variable}\n</Dataset>')
    return path


def test_values_are_those_of_the_file(tmp_path: Path) -> None:
    source = write_file(tmp_path / "a.h5")
    path = tmp_path / "a.h5.dmrpp"
    path.write_text(dmrpp_of(source))
    with refbrowser.open(path) as dataset, h5py.File(source) as file:
        assert dataset.format == "dmrpp"
        for name in ("t", "plain", "g/contiguous", "g/holes", "g/empty"):
            array = dataset.array(f"/{name}")
            assert array.dtype == file[name].dtype
            assert np.array_equal(array[...], file[name][...]), name
        node = dataset.array("/t").node
        assert node.dimensions == ("lat", "lon")
        assert node.attributes["units"] == "K"
        assert node.attributes["_FillValue"] == -9999
        assert [codec.name for codec in node.codecs] == ["shuffle", "zlib", "fletcher32"]
        assert node.codecs[1].configuration == {"level": 7}
        assert dataset.hierarchy.root.attributes["title"] == "days"


def test_references_are_those_that_the_file_gives(tmp_path: Path) -> None:
    source = write_file(tmp_path / "a.h5")
    path = tmp_path / "a.h5.dmrpp"
    path.write_text(dmrpp_of(source))
    with refbrowser.open(path) as ours, refbrowser.open(source) as theirs:
        for name in ("t", "g/holes"):
            assert ours.array(f"/{name}").node.grid == theirs.array(f"/{name}").node.grid
            coords = np.array([*np.ndindex(*ours.array(f"/{name}").node.grid.grid_shape)])
            mine, its = (each.array(f"/{name}").node.manifest.columns(coords) for each in (ours, theirs))
            for column in ("kind", "offset", "length"):
                assert np.array_equal(getattr(mine, column), getattr(its, column)), (name, column)


@pytest.mark.slow
def test_virtualizarr_finds_the_same_chunks(tmp_path: Path) -> None:
    parsers = pytest.importorskip("virtualizarr.parsers")
    registry = pytest.importorskip("obspec_utils.registry")
    stores = pytest.importorskip("obstore.store")
    source = write_file(tmp_path / "a.h5")
    path = tmp_path / "a.h5.dmrpp"
    path.write_text(dmrpp_of(source))
    known = registry.ObjectStoreRegistry({"file://": stores.LocalStore()})
    store = parsers.DMRPPParser()(url=f"file://{path}", registry=known)
    theirs = store._group.arrays["t"].manifest.dict()
    with refbrowser.open(path) as dataset:
        found = {key: dataset.document.expansion.reference(f"t/{key}") for key in theirs}
    ours = {key: (each.offset, each.length) for key, each in found.items() if isinstance(each, ByteRange)}
    assert ours == {key: (each["offset"], each["length"]) for key, each in theirs.items()}


BLOB = base64.b64encode(np.arange(6, dtype="<i4").tobytes()).decode()
PACKED = base64.b64encode(zlib.compress(np.arange(6, dtype="<i4").tobytes())).decode()
LARGE = base64.b64encode(zlib.compress(bytes(25))).decode()
NEGATIVE = (
    '<Int16 name="v"><Dim size="10"/><dmrpp:chunks><dmrpp:chunkDimensionSizes>5</dmrpp:chunkDimensionSizes>'
    '<dmrpp:chunk offset="0" nBytes="10" chunkPositionInArray="[-5]"/></dmrpp:chunks></Int16>'
)
WITHIN = '<Int32 name="v"><Dim size="2"/><Dim size="3"/>{}</Int32>'


@pytest.mark.parametrize(
    "held",
    [f"<dmrpp:compact>\n {BLOB}\n</dmrpp:compact>", f"<dmrpp:missingdata>{PACKED}</dmrpp:missingdata>"],
)
def test_values_that_stand_in_the_text(tmp_path: Path, held: str) -> None:
    with refbrowser.open(described(tmp_path, WITHIN.format(held))) as dataset:
        assert dataset.array("/v")[...].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_packed_values_of_a_description_are_limited_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = WITHIN.format(f"<dmrpp:missingdata>{PACKED}</dmrpp:missingdata>")
    changed = type(LIMITS)(chunk_size=2 * 24)
    monkeypatch.setattr("refbrowser.wings.dmrpp.reading.dmr_arrays.LIMITS", changed)
    several = "".join(held.replace('"v"', f'"{name}"') for name in "abc")
    with refbrowser.open(described(tmp_path, several)) as dataset:
        assert dataset.array("/b")[...].tolist() == [[0, 1, 2], [3, 4, 5]]
        assert "too many" in dataset.array("/c").node.error.message


def test_one_missing_value_is_not_packed(tmp_path: Path) -> None:
    held = f"<dmrpp:missingdata>{base64.b64encode(bytes([7])).decode()}</dmrpp:missingdata>"
    with refbrowser.open(described(tmp_path, f'<Byte name="v">{held}</Byte>')) as dataset:
        assert dataset.array("/v")[...] == 7


def test_texts(tmp_path: Path) -> None:
    fixed = (
        '<String name="fixed"><Dim size="3"/><dmrpp:FixedLengthStringArray string_length="2" pad="null_pad"/>'
        '<dmrpp:chunks><dmrpp:chunk offset="65" nBytes="6"/></dmrpp:chunks></String>'
    )
    one = '<String name="one"><dmrpp:chunk offset="97" nBytes="3"/></String>'
    many = (
        '<String name="many"><Dim size="5"/><dmrpp:vlsa><v>Zürich</v><v c="3">so</v><dmrpp:v>tasty!</dmrpp:v>'
        "</dmrpp:vlsa></String>"
    )
    path = described(tmp_path, fixed + one + many, head=HEAD.replace("ISO-8859-1", "UTF-8"))
    with refbrowser.open(path) as dataset:
        assert dataset.array("/fixed")[...].tolist() == [b"AB", b"CD", b"EF"]
        assert dataset.array("/one")[...] == b"abc"
        assert dataset.array("/many")[...].tolist() == ["Zürich", "so", "so", "so", "tasty!"]


def test_texts_that_are_not_stored_hold_their_fill_value(tmp_path: Path) -> None:
    said = '<dmrpp:FixedLengthStringArray string_length="2" pad="null_term"/>'
    array = f'<String name="a"><Dim size="2"/><dmrpp:chunks fillValue="aa"/>{said}</String>'
    scalar = '<String name="b"><dmrpp:chunks fillValue="xyz"/></String>'
    wrong = array.replace('"a"', '"c"').replace('"aa"', '"aaa"')
    with refbrowser.open(described(tmp_path, array + scalar + wrong)) as dataset:
        assert dataset.array("/a")[...].tolist() == [b"aa", b"aa"]
        assert dataset.array("/b")[...] == b"xyz"
        with pytest.raises(RefbrowserError, match="more than 2 bytes"):
            dataset.array("/c")[...]


def test_a_structure_of_numbers(tmp_path: Path) -> None:
    variable = (
        '<Structure name="v"><UInt8 name="a"/><UInt16 name="b"><Dim size="2"/></UInt16><Dim size="2"/>'
        '<dmrpp:chunks byteOrder="LE" structOffset="2 8"><dmrpp:chunk offset="0" nBytes="16"/></dmrpp:chunks>'
        "</Structure>"
    )
    with refbrowser.open(described(tmp_path, variable)) as dataset:
        values = dataset.array("/v")[...]
    assert values["a"].tolist() == [0, 8]
    assert values["b"].tolist() == [[0x0302, 0x0504], [0x0B0A, 0x0D0C]]


def test_an_enumeration(tmp_path: Path) -> None:
    names = '<EnumConst name="low" value="258"/><EnumConst name="high" value="772"/>'
    variable = (
        f'<Enumeration name="level" basetype="UInt16">{names}</Enumeration>'
        '<Enum name="v" enum="/level"><Dim size="2"/><dmrpp:chunks byteOrder="BE">'
        '<dmrpp:chunk offset="1" nBytes="4"/></dmrpp:chunks></Enum>'
    )
    with refbrowser.open(described(tmp_path, variable)) as dataset:
        array = dataset.array("/v")
        assert array[...].tolist() == [258, 772]
        assert array.node.type.names == {258: "low", 772: "high"}
        assert list(dataset.arrays) == ["/v"]


def test_filters_without_a_version_are_in_the_order_of_hdf5(tmp_path: Path) -> None:
    data = zlib.compress(b"\1\2\3\4\5\6\7\x08\0\0\0\0\0\0\0\0")
    variable = (
        '<UInt16 name="v"><Dim size="8"/><dmrpp:chunks compressionType="deflate shuffle">'
        "<dmrpp:chunkDimensionSizes>8</dmrpp:chunkDimensionSizes>"
        f'<dmrpp:chunk offset="0" nBytes="{len(data)}" chunkPositionInArray="0"/></dmrpp:chunks></UInt16>'
    )
    path = described(tmp_path, variable, version="")
    (tmp_path / "a.h5").write_bytes(data)
    with refbrowser.open(path) as dataset:
        assert dataset.array("/v")[...].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
        assert [codec.name for codec in dataset.array("/v").node.codecs] == ["shuffle", "zlib"]


SIDES = "<dmrpp:chunkDimensionSizes>2</dmrpp:chunkDimensionSizes>"
CHUNKED = f'<UInt8 name="v"><Dim size="4"/><dmrpp:chunks {{}}>{SIDES}{{}}</dmrpp:chunks></UInt8>'
TWO = (
    '<dmrpp:chunk offset="0" nBytes="2" chunkPositionInArray="[0]" {}/>'
    '<dmrpp:chunk offset="2" nBytes="2" chunkPositionInArray="[2]"/>'
)


WRONG_ENUM = (
    '<Enumeration name="e" basetype="Byte"><EnumConst value="x"/></Enumeration><Enum name="v" enum="e"/>'
)


@pytest.mark.parametrize(
    ("variable", "why"),
    [
        (CHUNKED.format('LBChunk="true"', TWO.format('LinkedBlockIndex="0"')), "blocks of HDF4"),
        (CHUNKED.format("", '<dmrpp:block offset="0" nBytes="2"/>'), "blocks of HDF4"),
        (CHUNKED.format('compressionType="deflate"', TWO.format('fm="2"')), "filters were left out"),
        (CHUNKED.format('compressionType="szip"', TWO.format("")), "'szip' is not one of DMR"),
        (CHUNKED.format("", ""), "does not say where its values are"),
        (CHUNKED.format("", TWO.replace("[2]", "[3]").format("")), "not in its grid"),
        (CHUNKED.format("", TWO.replace("[2]", "[4]").format("")), "not in its grid"),
        (CHUNKED.format("", TWO.replace("[2]", "[0,2]").format("")), "not of 1 dimensions"),
        (CHUNKED.format('fillValue="none"', TWO.format("")), "is no uint8"),
        (CHUNKED.replace(">2<", ">0<").format("", TWO.format("")), "cannot tile"),
        ('<UInt8 name="v"><Dim name="/nowhere"/></UInt8>', "no group declares its dimension"),
        ('<UInt8 name="v"><Dim size="-3"/></UInt8>', "is no size"),
        ('<UInt8 name="v"/>', "does not say where its values are"),
        ('<String name="v"><Dim size="2"/><dmrpp:chunk offset="0" nBytes="2"/></String>', "how long its"),
        ('<Opaque name="v"/>', "of type Opaque are not read"),
        ('<Enum name="v" enum="/none"/>', "no group declares its enumeration"),
        ('<Enumeration name="e" basetype="Float32"/><Enum name="v" enum="e"/>', "not of integers"),
        (WRONG_ENUM, "is no integer"),
        (WITHIN.format("<dmrpp:compact>AAAA</dmrpp:compact>"), "take 3 bytes, not 24"),
        (WITHIN.format("<dmrpp:compact>A</dmrpp:compact>"), "cannot be decoded"),
        (WITHIN.format("<dmrpp:missingdata>AAAA</dmrpp:missingdata>"), "cannot be decoded"),
        (WITHIN.format(f"<dmrpp:missingdata>{LARGE}</dmrpp:missingdata>"), "too many"),
        (NEGATIVE, "not in its grid"),
        (CHUNKED.format("", TWO.replace("[2]", "[0]").format("")), r"several of its chunks are at .* \[0\]"),
        ('<String name="v"><Dim size="2"/><dmrpp:vlsa><v c="3">a</v></dmrpp:vlsa></String>', "more texts"),
        ('<String name="v"><Dim size="2"/><dmrpp:vlsa><v>a</v></dmrpp:vlsa></String>', "1 texts for 2"),
        ('<Structure name="v"><UInt8 name="a"/><dmrpp:chunk offset="0" nBytes="1"/></Structure>', "are said"),
        ('<Structure name="v"><dmrpp:specialstructuredata/></Structure>', "stand in the text"),
    ],
)  # fmt: skip
def test_what_cannot_be_said_by_references_is_told_and_the_rest_is_shown(
    tmp_path: Path, variable: str, why: str
) -> None:
    sound = '<UInt8 name="sound"><Dim size="3"/><dmrpp:chunk offset="1" nBytes="3"/></UInt8>'
    with refbrowser.open(described(tmp_path, variable + sound)) as dataset:
        assert dataset.array("/sound")[...].tolist() == [1, 2, 3]
        with pytest.raises(RefbrowserError, match=why):
            dataset.array("/v")[...]


@pytest.mark.parametrize("declared", ['[<!ENTITY e "text">]', 'SYSTEM "file:///etc/passwd"'])
def test_declarations_are_refused(tmp_path: Path, declared: str) -> None:
    attribute = '<Attribute name="a" type="String"><Value>&e;</Value></Attribute>'
    path = described(tmp_path, f'<UInt8 name="v">{attribute}</UInt8>')
    start, _, rest = path.read_text().partition("\n")
    path.write_text(f"{start}\n<!DOCTYPE D {declared}>\n{rest}")
    with pytest.raises(RefbrowserError, match="entities are never expanded") as raised:
        refbrowser.open(path)
    assert raised.value.kind is ErrorKind.UNSAFE
    assert raised.value.place.line == 2


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = b"<Dataset>" + b"<Group>" * (LIMITS.group_nesting + 1)
    with pytest.raises(RefbrowserError, match="levels deep") as raised:
        read_dmr([deep], "deep")
    assert raised.value.kind is ErrorKind.BUDGET
    for name, text in (
        ("xml_elements", b"<Dataset><a/><b/><c/></Dataset>"),
        ("xml_size", b"<Dataset>" + b" " * 90),
    ):
        changed = type(LIMITS)(**{name: 3 if name == "xml_elements" else 50})
        monkeypatch.setattr("refbrowser.formats.xml_elements.LIMITS", changed)
        with pytest.raises(RefbrowserError, match="more than") as raised:
            read_dmr([text], "much")
        assert raised.value.kind is ErrorKind.BUDGET


def test_attributes_of_one_element_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refbrowser.formats.xml_elements.LIMITS", type(LIMITS)(xml_tag=1000))
    monkeypatch.setattr("refbrowser.formats.xml_elements._PORTION", 100)
    long = b"<Dataset>" + b"x" * 5000 + b"<Group name='g'/>" * 200
    assert len(read_dmr([long + b"</Dataset>"], "long").children) == 200, "texts and many elements are not"
    attributes = b" ".join(b"a%d=''" % number for number in range(300))
    with pytest.raises(RefbrowserError, match="begins with more than 1000 bytes") as raised:
        read_dmr([b"<Dataset xmlns='http://xml.opendap.org/ns/DAP/4.0#' " + attributes], "wide")
    assert raised.value.kind is ErrorKind.BUDGET


def test_a_cut_or_changed_description_never_gives_other_values(tmp_path: Path) -> None:
    source = write_file(tmp_path / "a.h5")
    text = dmrpp_of(source).encode()
    path = tmp_path / "a.h5.dmrpp"
    for end in range(300, len(text) - 12, len(text) // 40):
        path.write_bytes(text[:end])
        with pytest.raises(RefbrowserError, match="no XML"):
            refbrowser.open(path)
    for old, new in ((b'offset="', b'offset="-'), (b'nBytes="', b'nBytes="x'), (b"[0,64]", b"[0,sixty]")):
        path.write_bytes(text.replace(old, new, 1))
        with pytest.raises(RefbrowserError, match="a chunk cannot be read"):
            refbrowser.open(path)


@pytest.mark.parametrize(
    ("url", "name", "found"),
    [
        ("/data/a.h5.dmrpp", "", "/data/a.h5"),
        ("/data/a.h5.dmrpp", "b.h5", "/data/b.h5"),
        ("/data/a.h5.dmrpp", "../c/b.h5", "/c/b.h5"),
        ("/data/a.h5.dmrpp", "s3://bucket/b.h5", "s3://bucket/b.h5"),
        ("https://host/x/a.h5.dmrpp", "", "https://host/x/a.h5"),
        ("https://host/x/a.h5.dmrpp", "b.h5", "https://host/x/b.h5"),
        ("https://host/x/a.h5.dmrpp", "https://other/b.h5", "https://other/b.h5"),
    ],
)
def test_where_the_file_lies(url: str, name: str, found: str) -> None:
    assert place_of(url, name) == found


def test_another_place_is_read_only_when_allowed(tmp_path: Path) -> None:
    source = write_file(tmp_path / "a.h5")
    path = tmp_path / "b.dmrpp"
    path.write_text(dmrpp_of(source, href="https://data.example/a.h5"))
    with refbrowser.open(path) as dataset, pytest.raises(RefbrowserError) as raised:
        dataset.array("/t")[...]
    assert raised.value.kind is ErrorKind.BLOCKED


def test_at_a_server_both_are_read_there(tmp_path: Path) -> None:
    source = write_file(tmp_path / "a.h5")
    text = dmrpp_of(source).encode()
    with (
        HttpServer({"/d/a.h5.dmrpp": text, "/d/a.h5": source.read_bytes()}) as server,
        refbrowser.open(server.url("/d/a.h5.dmrpp")) as dataset,
    ):
        assert np.array_equal(dataset.array("/t")[...], VALUES)


def test_a_text_that_a_server_did_not_complete_names_the_file_beside_it(tmp_path: Path) -> None:
    source = write_file(tmp_path / "a.h5")
    path = tmp_path / "a.h5.dmrpp"
    path.write_text(dmrpp_of(source, href="OPeNDAP_DMRpp_DATA_ACCESS_URL"))
    with refbrowser.open(path) as dataset:
        assert np.array_equal(dataset.array("/t")[...], VALUES)


def test_it_is_saved_as_references_and_read_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_file(tmp_path / "a.h5")
    path = tmp_path / "a.h5.dmrpp"
    path.write_text(dmrpp_of(source))
    assert main(["info", str(path)]) == 0
    assert "a.h5.dmrpp  dmrpp" in capsys.readouterr().out
    assert main(["export", str(path), str(tmp_path / "made.json"), "--to", "refs-v1"]) == 0
    with refbrowser.open(tmp_path / "made.json") as dataset:
        assert np.array_equal(dataset.array("/t")[...], VALUES)
