"""A codec is a row of the table and its class: all that reads, writes, offers and explains follows."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import dataclass
from pathlib import Path

import numcodecs
import numcodecs.abc
import numpy as np
import pytest
from pytestqt.qtbot import QtBot
from source import Source

import refbrowser
from refbrowser.app.dialogs.export_options import OptionsForm
from refbrowser.cli import main
from refbrowser.codecs.base import Bytes, Room, as_bytes
from refbrowser.codecs.settings import Number
from refbrowser.codecs.table import CODECS, Codec, Kind, Offer
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.codec_names import codecs_v3
from refbrowser.exporting.option_fields import group_of, offered_codecs
from refbrowser.exporting.options import StoreOptions
from refbrowser.formats import registry
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, CodecSpec
from refbrowser.model.values import Chunks

PACKAGE = Path(refbrowser.__file__).parent
VALUES = np.arange(60, dtype="<i4").reshape(6, 10)
HEAD = b"TURN"


# The class, and the row.


@dataclass(frozen=True, slots=True)
class Turned:
    """The bytes backwards after a mark and the level."""

    level: int

    def encoded(self, room: Room) -> Room:
        return Room.of(room.most + 5) if room.exact is not None else room.compressed()

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        return data[5:][::-1].copy()

    def encode(self, data: Bytes) -> Bytes:
        return as_bytes(HEAD + bytes([self.level]) + data.tobytes()[::-1])


ROW = Codec(
    name="turned",
    make=lambda settings, before: Turned(settings["level"]),
    settings=(Number("level", 2, low=1, high=7),),
    v3="numcodecs.turned",
    draft=("level",),
    netcdf="plugin",
    offer=Offer("turned:3", {"turned": "Turned around"}, 3),
    begins=lambda head: head.startswith(HEAD),
)


class OfNumcodecs(numcodecs.abc.Codec):
    """What other software knows of it: zarr-python writes the metadata, and here it reads the values."""

    codec_id = "turned"

    def __init__(self, level: int = 2) -> None:
        self.level = level

    def encode(self, buf):
        return Turned(self.level).encode(as_bytes(np.ascontiguousarray(buf))).tobytes()

    def decode(self, buf, out=None):
        plain = bytes(buf)[5:][::-1]
        return plain if out is None else numcodecs.compat.ndarray_copy(plain, out)


@pytest.fixture
def _added(monkeypatch: pytest.MonkeyPatch) -> None:
    of_numcodecs = pytest.importorskip("zarr.codecs.numcodecs", reason="since zarr-python 3.1")
    from zarr.registry import register_codec

    monkeypatch.setitem(CODECS, ROW.name, ROW)
    monkeypatch.setitem(numcodecs.registry.codec_registry, "turned", OfNumcodecs)
    register_codec(
        "numcodecs.turned", type("Of3", (of_numcodecs._NumcodecsBytesBytesCodec,), {}, codec_name="turned")
    )


def written(path: Path, version: int, **arguments) -> Path:
    import zarr

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = zarr.create_array(
            path, shape=VALUES.shape, chunks=(3, 5), dtype="<i4", zarr_format=version, **arguments
        )
        array[...] = VALUES
    return path


def configured(target: Path, version: int) -> dict:
    """Return the codec that the metadata of an array names."""
    if version == 2:
        return json.loads((target / ".zarray").read_text())["compressor"]
    return json.loads((target / "zarr.json").read_text())["codecs"][-1]


@pytest.mark.slow
@pytest.mark.usefixtures("_added")
def test_a_new_row_is_read_written_offered_and_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], qtbot: QtBot
) -> None:
    import zarr

    # Read, in both versions.
    of_v2 = written(tmp_path / "in2", 2, compressors=OfNumcodecs(5))
    of_v3 = written(
        tmp_path / "in3", 3, compressors={"name": "numcodecs.turned", "configuration": {"level": 5}}
    )
    for path in (of_v2, of_v3):
        with refbrowser.open(path) as dataset:
            assert np.array_equal(dataset["/"][...], VALUES)

    # Written by the API where it is chosen, and where a source has it: other software reads it back.
    told = {2: {"id": "turned", "level": 4}, 3: {"name": "numcodecs.turned", "configuration": {"level": 4}}}
    plain = written(tmp_path / "plain", 3, compressors=None)
    with refbrowser.open(plain) as dataset:
        for version in (2, 3):
            target = tmp_path / f"chosen{version}"
            options = StoreOptions(codec="turned:4")
            refbrowser.export(dataset, target, format=f"zarr-v{version}", options=options)
            assert configured(target, version) == told[version]
            assert np.array_equal(zarr.open_array(target, mode="r")[...], VALUES)
        refbrowser.export(dataset, tmp_path / "draft", format="zarr-v3-draft", options=options)
        (document,) = (tmp_path / "draft" / "meta").parent.rglob("*.array*")
        assert json.loads(document.read_text())["chunk_codecs"][0]["level"] == 4
    for source, version in ((of_v2, 3), (of_v3, 2)):
        with refbrowser.open(source) as dataset:
            report = refbrowser.export(dataset, tmp_path / f"kept{version}", format=f"zarr-v{version}")
        assert report.copied == report.chunks
        assert configured(tmp_path / f"kept{version}", version).get("level", 5) == 5

    # Offered by the command line, with its bounds, and by the dialog.
    assert main(["export", "--to", "zarr-v2", "--help"]) == 0
    assert "turned:3" in re.sub(r"\s+", " ", capsys.readouterr().out)
    target = tmp_path / "by_command"
    assert main(["export", str(plain), str(target), "--to", "zarr-v2", "--codec", "turned"]) == 0
    assert configured(target, 2) == {"id": "turned", "level": 2}
    assert main(["export", str(plain), str(target), "--to", "zarr-v2", "--codec", "turned:8"]) == 2
    assert "from 1 to 7" in capsys.readouterr().err
    (row,) = (each for each in offered_codecs() if each.text == "turned")
    assert row.title == "Turned around"
    form = OptionsForm(StoreOptions)
    qtbot.addWidget(form)
    codec, level = form.fields["codec"].widgets
    codec.setCurrentText("Turned around")
    for chosen in registry.written().values():
        if group_of(chosen) is StoreOptions:
            form.set_format(chosen)
            assert codec.model().item(codec.currentIndex()).isEnabled()
            assert (level.minimum(), level.maximum(), level.value()) == (1, 7, 3)
            assert form.said()["codec"] == "turned:3"

    # Named by Explain, also where it stands for something else.
    assert main(["explain", str(target), "0.0"]) == 0
    said = capsys.readouterr().out
    assert "Codec turned" in said
    assert "level 2" in said
    metadata = json.loads((target / ".zarray").read_text()) | {"compressor": {"id": "zlib", "level": 1}}
    (target / ".zarray").write_text(json.dumps(metadata))
    (target / ".zmetadata").unlink(missing_ok=True)
    main(["explain", str(target), "0.0"])
    assert "the bytes begin like turned" in capsys.readouterr().out


@pytest.mark.usefixtures("_added")
def test_a_new_row_is_in_no_target_that_has_no_name_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    monkeypatch.setitem(CODECS, ROW.name, replace(ROW, v3=None, draft=None))
    (offered,) = (each for each in offered_codecs() if each.text == "turned")
    stores = [name for name, form in registry.written().items() if group_of(form) is StoreOptions]
    fits = {name for name in stores if offered.fits(name)}
    assert fits == {"zarr-v2", "nczarr"}


# The table is the only one.

#: Lists of names that mean something else than codecs of chunks, and why.
OTHERS = {
    "exporting/targets/netcdf.py": "filters of netCDF-4",
    "exporting/targets/netcdf4.py": "filters of netCDF-4",
    "exporting/targets/netcdf4_writing.py": "filters of netCDF-4",
    "exporting/options.py": "compressions of Arrow",
    "wings/awkward0/layouts/functions.py": "functions of Python that files name",
    "wings/awkward0/writing/blobs.py": "functions of Python that are named in files",
    "formats/compression.py": "how whole documents are packed",
    "wings/dmrpp/reading/dmr_arrays.py": "words of DMR++ for filters",
    "codecs/makers.py": "what a filter of HDF5 packs its blocks with",
    "exporting/packing.py": "the two codecs that say what attributes of CF say",
    "views/packing_words.py": "the two codecs that say what attributes of CF say",
    "formats/hdf5/hdf5_filters.py": "numbers of compressors in the settings of the filter of Blosc",
    "formats/references.py": "how whole documents are packed",
    "references/content/content.py": "how whole documents are packed",
    "io/archives/entries.py": "methods of zip archives",
}


def lists_of(source: Source) -> list[tuple[int, set[str]]]:
    """Return the lists, mappings and unions of literals that name codecs, with their lines."""
    # The words `bytes` and `endian` mean more than codecs.
    names = CODECS.keys() - {"bytes", "endian"}
    found = (
        (line, names & {text.partition(":")[0].removeprefix("numcodecs.") for text in texts})
        for line, texts in source.lists
    )
    return [(line, named) for line, named in found if len(named) > 1]


def test_lists_of_codecs_occur_nowhere_else(sources: list[Source]) -> None:
    found = {source.path.relative_to(PACKAGE).as_posix(): lists_of(source) for source in sources}
    assert found.pop("codecs/table.py"), "lists are not found where they are"
    found = {name: lists for name, lists in found.items() if lists}
    assert not {name: lists for name, lists in found.items() if name not in OTHERS}
    assert found.keys() == OTHERS.keys(), "an exception that nothing needs any more"


def test_the_manual_names_the_codecs_of_the_draft() -> None:
    manual = (PACKAGE.parent / "resources" / "manual" / "export.md").read_text("utf-8")
    (sentence,) = re.findall(r"^\* ([a-z0-9, ]+) are kept; filters and other codecs", manual, re.MULTILINE)
    assert set(re.split(r", | and ", sentence)) == {
        row.name for row in CODECS.values() if row.draft is not None
    }


@pytest.mark.parametrize("name", CODECS)
def test_what_a_row_says_fits_together(name: str) -> None:
    row = CODECS[name]
    if row.offer is not None:
        assert row.offer.example.partition(":")[0] == name
        assert row.level is not None
        lowest = row.level.lowest if row.offer.lowest is None else row.offer.lowest
        assert row.level.lowest <= lowest <= row.offer.level <= row.level.high
        assert row.level.lowest <= row.level.usual <= row.level.high
        for text in (row.offer.example, *row.offer.titles):
            assert StoreOptions(codec=text).codec_choice is not None
        assert row.v3 is not None
    for option in row.draft or ():
        assert option in {each.name for each in row.settings}
    assert row.module == "" or row.package


def test_words_of_zarr_v3_that_stand_for_no_number_are_told() -> None:
    shuffle = CODECS["blosc"].setting("shuffle")
    assert [shuffle.in_v3(number, 1) for number in (0, 1, 2, -1, None, "bitshuffle")] == [
        *("noshuffle", "shuffle", "bitshuffle", "bitshuffle", "shuffle", "bitshuffle"),
    ]
    assert (shuffle.in_v3(-1, 4), shuffle.in_v2("bitshuffle"), shuffle.in_v2(2)) == ("shuffle", 2, 2)
    for wrong in (3, -2, "x", 1.5):
        with pytest.raises(RefbrowserError, match="shuffle"):
            shuffle.in_v3(wrong, 4)


def test_other_serializers_than_bytes_stay_where_they_are() -> None:
    def named(*specs: CodecSpec) -> ArrayNode:
        grid = RegularChunkGrid((6, 10), (6, 10))
        return ArrayNode(
            path="/a",
            shape=(6, 10),
            type=DataType.of(np.dtype("<i4")),
            values=Chunks(grid=grid, codecs=specs),
            format="zarr-v3",
        )

    gzip = CodecSpec("gzip", {"level": 1})
    for row in CODECS.values():
        if row.kind is Kind.SERIALIZER:
            name = f"numcodecs.{row.name}" if row.module else row.name
            codecs = codecs_v3(named(CodecSpec(name), gzip))
            assert codecs.serializer["name"] == name
            assert [each["name"] for each in codecs.compressors] == ["gzip"]
    with pytest.raises(RefbrowserError, match="no codec turns the array into bytes"):
        codecs_v3(named(gzip))
