"""Files that name others lead on to them: what is named, what opens best, what is not followed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from servers.http_server import HttpServer

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.lead import Lead
from refbrowser.formats.leads.ncml import lead_of_ncml
from refbrowser.formats.leads.stac import lead_of_stac
from refbrowser.formats.leads.texts import lead_of_list, lead_of_vrt
from refbrowser.formats.sniffing import NotReferencesError
from refbrowser.limits import LIMITS

NCML = '<netcdf xmlns="http://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2"{}>{}</netcdf>'


def ncml(within: str, attributes: str = "", place: str = "/d/a.ncml") -> Lead:
    return lead_of_ncml(NCML.format(attributes, within).encode(), place)


def urls(lead: Lead) -> list[str]:
    return [each.url for each in lead.sources]


FILES = '<netcdf location="a.nc"/><netcdf location="../b.nc"/>'


def test_a_union() -> None:
    lead = ncml(f'<aggregation type="union">{FILES}</aggregation>')
    assert urls(lead) == ["/d/a.nc", "/b.nc"]
    assert (lead.merge, lead.concat, lead.new_dims, lead.unsaid) == (True, (), (), ())


def test_files_along_a_dimension_that_they_have() -> None:
    lead = ncml(f'<aggregation type="joinExisting" dimName="time">{FILES}</aggregation>')
    assert (lead.merge, lead.concat, lead.unsaid) == (False, ("time",), ())
    given = FILES.replace("/>", ' coordValue="3"/>')
    lead = ncml(f'<aggregation type="joinExisting" dimName="time">{given}</aggregation>')
    assert "those in the files are" in lead.unsaid[0]


def test_files_along_a_new_dimension() -> None:
    given = FILES.replace('a.nc"', 'a.nc" coordValue="10"').replace('b.nc"', 'b.nc" coordValue="20"')
    lead = ncml(f'<aggregation type="joinNew" dimName="run">{given}</aggregation>')
    assert lead.new_dims == ("run=list:10,20",)
    lead = ncml(f'<aggregation dimName="run" type="joinNew">{FILES}<variableAgg name="t"/></aggregation>')
    assert lead.new_dims == ("run=list:a.nc,b.nc",), "without values the files' names are the coordinates"
    assert "listed or not" in lead.unsaid[0]


def test_folders_that_are_scanned() -> None:
    scan = '<scan location="data/" suffix=".nc" {}/>'
    existing = '<aggregation type="joinExisting" dimName="time">{}</aggregation>'
    assert urls(ncml(existing.format(scan.format("")))) == ["/d/data/**/*.nc"]
    assert urls(ncml(existing.format(scan.format('subdirs="false"')))) == ["/d/data/*.nc"]
    lead = ncml(existing.format(scan.format('regExp=".*x" olderThan="5 min"')))
    assert len(lead.unsaid) == 2
    lead = ncml(existing.format(scan.format("")), place="https://host/d/a.ncml")
    assert urls(lead) == ["https://host/d/data/*.nc"]
    assert "web server" in lead.unsaid[0]
    new = '<aggregation type="joinNew" dimName="time"><scan location="." suffix=".nc" {}/></aggregation>'
    lead = ncml(new.format("dateFormatMark='run.#yyyyMMdd_HHmm'"))
    root = '<aggregation type="union"><scan location="/" suffix=".nc"/></aggregation>'
    assert urls(ncml(root)) == ["/**/*.nc"], "the root is not the folder of the file"
    digits = r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})_(?P<hour>\d{2})(?P<minute>\d{2})"
    assert lead.new_dims == (f"time=name:run\\.{digits}",)


def test_attributes() -> None:
    lead = ncml(
        '<attribute name="title" value="Runs"/><attribute name="n" type="int" value="1 2"/>'
        '<variable name="t"><attribute name="units" value="K"/><attribute name="f" type="float" value="x"/>'
        '</variable><group name="g"><variable name="v" orgName="w"><attribute name="a" orgName="b"/>'
        '<values start="0" increment="1"/></variable></group><remove name="x" type="attribute"/>',
        ' location="a.nc"',
    )
    assert urls(lead) == ["/d/a.nc"]
    assert lead.attributes == (("/", "title", "Runs"), ("/", "n", [1, 2]), ("/t", "units", "K"))
    told = " ".join(lead.unsaid)
    for words in (
        "is no float",
        "'w' keeps its name",
        "'b' of /g/v keeps",
        "values that it gives",
        "removes",
    ):
        assert words in told


@pytest.mark.parametrize(
    ("within", "words"),
    [
        ('<aggregation type="union"><netcdf location="a"><aggregation/></netcdf></aggregation>', "within"),
        ('<aggregation type="union"><netcdf location="a"><remove/></netcdf></aggregation>', "single files"),
        ('<aggregation type="union"/><aggregation type="union"/>', "only the first"),
        ('<aggregation type="union"><promoteGlobalAttribute/></aggregation>', "not made variables"),
        ("<strange/>", "'strange' is not followed"),
    ],
)  # fmt: skip
def test_what_is_not_followed_is_told(within: str, words: str) -> None:
    assert any(words in each for each in ncml(within).unsaid)


def test_an_aggregation_that_is_not_known_is_an_error() -> None:
    for within in ('<aggregation type="fmrcSingle" dimName="t"/>', '<aggregation type="joinNew"/>'):
        with pytest.raises(RefbrowserError, match="is not followed"):
            ncml(within)
    with pytest.raises(RefbrowserError, match="its root is no netcdf"):
        lead_of_ncml(b"<a/>", "a")
    with pytest.raises(RefbrowserError, match="never expanded") as raised:
        lead_of_ncml(b'<!DOCTYPE n [<!ENTITY e "x">]><netcdf location="&e;"/>', "a")
    assert raised.value.kind is ErrorKind.UNSAFE


def test_what_comes_from_a_server_names_no_file_of_this_computer() -> None:
    listed = b"C:/boot.ini\nfile:///etc/shadow\nb.nc\nhttps://other/c.nc\n"
    lead = lead_of_list(listed, "https://host/d/list.txt")
    assert urls(lead) == ["https://host/d/b.nc", "https://other/c.nc"]
    assert "2 of this computer" in lead.unsaid[0]
    raster = b"<VRTDataset><SourceFilename>/etc/passwd</SourceFilename></VRTDataset>"
    lead = lead_of_vrt(raster, "https://host/d/a.vrt")
    assert urls(lead) == []
    assert "1 of this computer" in lead.unsaid[0]


def test_names_in_what_comes_from_a_server_are_url_references() -> None:
    names = ["/a.nc", "//other/b.nc", "../c.nc?d=e#f", "./g.nc"]
    listed = "\n".join(names).encode()
    # As RFC 3986, section 5.4, has them.
    assert urls(lead_of_list(listed, "https://host:8/d/h/l.txt?q")) == [
        "https://host:8/a.nc", "https://other/b.nc", "https://host:8/d/c.nc?d=e#f", "https://host:8/d/h/g.nc",
    ]  # fmt: skip
    assert urls(lead_of_list(listed, "s3://bucket/d/h/l.txt")) == [
        "s3://bucket/a.nc", "s3://other/b.nc", "s3://bucket/d/c.nc?d=e#f", "s3://bucket/d/h/g.nc",
    ]  # fmt: skip
    nested = "".join(f'<netcdf location="{name}"/>' for name in names[:2])
    lead = ncml(f'<aggregation type="union">{nested}</aggregation>', place="https://host/d/a.ncml")
    assert urls(lead) == ["https://host/a.nc", "https://other/b.nc"]
    item = {"type": "Feature", "links": [{"rel": "item", "href": "/items/1"}]}
    lead = lead_of_stac(json.dumps(item).encode(), "https://host/d/item.json")
    assert urls(lead) == ["https://host/items/1"]
    assert urls(lead_of_list(b"/a.nc\n//b/c.nc\n", "/d/l.txt")) == ["/a.nc", "//b/c.nc"], "paths stay paths"


def test_what_is_no_url_is_left_out() -> None:
    item = {
        "type": "Feature",
        "stac_version": "1.0.0",
        "assets": {"a": {"href": " //["}, "b": {"href": "b.nc"}},
    }
    lead = lead_of_stac(json.dumps(item).encode(), "https://host/d/item.json")
    assert urls(lead) == ["https://host/d/b.nc"]
    assert lead.unsaid == ("1 are left out: no URLs",)


@pytest.mark.parametrize("module", ["ncml", "texts"])
def test_too_many_elements(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"refbrowser.formats.leads.{module}.LIMITS", type(LIMITS)(lead_elements=3))
    read = lead_of_ncml if module == "ncml" else lead_of_vrt
    assert not read(b"<netcdf><a/><b/></netcdf>", "/d/a").sources
    with pytest.raises(RefbrowserError, match="more than 3 elements") as raised:
        read(b"<netcdf><a/><b/><c/></netcdf>", "/d/a")
    assert raised.value.kind is ErrorKind.BUDGET


def test_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refbrowser.formats.leads.places.LIMITS", type(LIMITS)(lead_sources=2))
    assert len(lead_of_list(b"a\nb\n", "/d/l.txt").sources) == 2
    with pytest.raises(RefbrowserError, match="more than 2 files") as raised:
        lead_of_list(b"a\nb\nc\n", "/d/l.txt")
    assert raised.value.kind is ErrorKind.BUDGET


def test_a_virtual_raster() -> None:
    text = """<VRTDataset><VRTRasterBand><SimpleSource>
      <SourceFilename relativeToVRT="1">tiles/a.tif</SourceFilename></SimpleSource>
      <ComplexSource><SourceFilename relativeToVRT="0">/vsicurl/https://host/b.tif</SourceFilename></ComplexSource>
      <SimpleSource><SourceFilename>/vsis3/bucket/c.tif</SourceFilename></SimpleSource>
      <SimpleSource><SourceFilename>NETCDF:"d.nc":t</SourceFilename></SimpleSource>
      <SimpleSource><SourceFilename relativeToVRT="1">tiles/a.tif</SourceFilename></SimpleSource>
      <SimpleSource><SourceFilename>HDF5:"e.h5"://g/v</SourceFilename></SimpleSource>
    </VRTRasterBand></VRTDataset>"""
    lead = lead_of_vrt(text.encode(), "/d/a.vrt")
    assert urls(lead) == ["/d/tiles/a.tif", "https://host/b.tif", "s3://bucket/c.tif", "/d/d.nc", "/d/e.h5"]
    assert not lead.is_one


ITEM = {
    "type": "Feature",
    "stac_version": "1.0.0",
    "assets": {
        "thumbnail": {"href": "t.tif", "type": "image/tiff", "roles": ["thumbnail"]},
        "data": {
            "href": "./a.nc",
            "type": "application/x-netcdf",
            "alternate": {"s3": {"href": "s3://b/a.nc"}},
        },
        "virtual": {"href": "a.json", "type": "application/json", "roles": ["references"]},
        "meta": {"href": "m.xml", "type": "application/xml"},
    },
    "links": [{"rel": "self", "href": "x"}, {"rel": "item", "href": "i.json", "title": "next"}],
}


def test_assets_of_an_item() -> None:
    lead = lead_of_stac(json.dumps(ITEM).encode(), "https://host/c/item.json")
    assert urls(lead) == [
        "https://host/c/t.tif", "https://host/c/a.nc", "s3://b/a.nc", "https://host/c/a.json",
        "https://host/c/m.xml", "https://host/c/i.json",
    ]  # fmt: skip
    assert [each.rank for each in lead.sources] == [0, 2, 2, 3, 0, 1]
    assert lead.best is not None
    assert lead.best.name == "virtual"
    lines = list(lead.lines())
    assert lines[1] == "data       application/x-netcdf  https://host/c/a.nc"
    store = {"zarr": {"href": "x", "type": "application/vnd+zarr; version=2"}}
    several = {
        "type": "FeatureCollection",
        "stac_version": "1.0.0",
        "features": [ITEM, {**ITEM, "assets": store}],
    }
    best = lead_of_stac(json.dumps(several).encode(), "/d/c.json").best
    assert best is not None
    assert best.url == "/d/x"


@pytest.mark.parametrize(
    "said",
    [
        '{"assets": [], "links": {}, "features": 3}',
        "3",
        '{"assets": {"a": 1}}',
        '{"links": [{"rel": [1], "href": "a"}]}',
    ],
)
def test_odd_json_names_nothing(said: str) -> None:
    assert lead_of_stac(said.encode(), "/d/a.json").sources == ()


@pytest.mark.parametrize("said", ["{", "[" * 100_000])
def test_what_is_no_json(said: str) -> None:
    with pytest.raises(RefbrowserError) as raised:
        lead_of_stac(said.encode(), "/d/a.json")
    assert raised.value.kind is ErrorKind.JSON


def test_opening_names_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = {
        "a.ncml": NCML.format("", f'<aggregation type="union">{FILES}</aggregation>'),
        "b.txt": "s3://bucket/a.nc\nhttps://host/b.nc\n",
        "c.json": json.dumps(ITEM),
        "d.vrt": "<VRTDataset><SourceFilename>x.tif</SourceFilename></VRTDataset>",
    }
    commands = {
        "a.ncml": f"refbrowser make {tmp_path}/a.ncml -o a.json",
        "b.txt": f"refbrowser make @{tmp_path}/b.txt --concat DIMENSION -o b.json",
        "c.json": f"refbrowser info {tmp_path}/a.json",
        "d.vrt": f"refbrowser info {tmp_path}/x.tif",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        # The NcML is opened by itself where that is permitted: one of its files is in the folder above.
        assert main(["info", str(tmp_path / name)]) == (3 if name == "a.ncml" else 2)
        assert commands[name] in capsys.readouterr().err
        with pytest.raises(NotReferencesError) as raised:
            refbrowser.open(tmp_path / name)
        assert raised.value.found.lead is not None


def test_the_answer_of_a_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"type": "FeatureCollection", "features": [{**ITEM, "links": []}]}
    (tmp_path / "found.json").write_text(json.dumps(found))
    with pytest.raises(RefbrowserError, match="GeoJSON") as raised:
        refbrowser.open(tmp_path / "found.json")
    assert f"refbrowser info {tmp_path}/a.json" in raised.value.advice
    (tmp_path / "plain.json").write_text('{"type": "FeatureCollection", "features": [{"geometry": null}]}')
    with pytest.raises(RefbrowserError, match="GeoJSON") as raised:
        refbrowser.open(tmp_path / "plain.json")
    assert "names" not in raised.value.advice
    monkeypatch.setattr("refbrowser.formats.leads.leading.LIMITS", type(LIMITS)(lead_size=10))
    with pytest.raises(RefbrowserError, match="GeoJSON") as raised:
        refbrowser.open(tmp_path / "plain.json")
    assert "names" not in raised.value.advice
    (tmp_path / "item.json").write_text(json.dumps(ITEM))
    with pytest.raises(RefbrowserError, match="STAC") as raised:
        refbrowser.open(tmp_path / "item.json")
    assert "more than 10 (lead_size)" in raised.value.advice


def test_what_is_no_whole_description_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.ncml").write_text(NCML.format("", "<aggregation")[:-9])
    with pytest.raises(RefbrowserError, match="NcML") as raised:
        refbrowser.open(tmp_path / "a.ncml")
    assert "What it names was not read: it is no XML" in raised.value.advice


def test_at_a_server() -> None:
    with HttpServer({"/c/item.json": json.dumps(ITEM).encode()}) as server:
        with pytest.raises(RefbrowserError) as raised:
            refbrowser.open(server.url("/c/item.json"))
        assert server.url("/c/a.json") in raised.value.advice
