"""The URLs of services, and the XML that they send."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
import stream_encoder as wire

from refbrowser.formats.format import Score, Seen
from refbrowser.formats.registry import SERVICE
from refbrowser.io.fetching.byte_sources import MemoryBytes
from refbrowser.io.origins import scheme_of, split_url
from refbrowser.wings.ncstream.reading.definition import StreamDefinition
from refbrowser.wings.ncstream.reading.walk import walk_stream
from refbrowser.wings.ncstream.remote.descriptions import capabilities_xml, ncml_text
from refbrowser.wings.ncstream.remote.spec import (
    data_url,
    endpoint_of,
    header_url,
)

SPACE = "{http://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2}"


def definition(**parts: list[bytes]) -> StreamDefinition:
    return walk_stream(MemoryBytes(wire.header(wire.group(**parts))), url="").definition


@pytest.mark.parametrize(
    ("named", "endpoint"),
    [
        ("cdmremote:http://h/x", "http://h/x"),
        ("CdmRemote:https://h:8/x?a=1", "https://h:8/x?a=1"),
        ("cdmremote://h/x", "http://h/x"),
        ("http://h/x?req=header", "http://h/x"),
        ("http://h/x?a=1&REQ=data&var=/v(0)&deflate=3&b=2#part", "http://h/x?a=1&b=2"),
    ],
)
def test_endpoints(named: str, endpoint: str) -> None:
    assert endpoint_of(named) == endpoint
    score = SERVICE.score(Seen.of(named))
    assert score is (Score.SCHEME if named.lower().startswith("cdmremote:") else Score.LAST)
    assert scheme_of(named) == endpoint.partition(":")[0]
    assert split_url(named).host == "h"
    joint = "&" if "?" in endpoint else "?"
    assert header_url(endpoint) == f"{endpoint}{joint}req=header"


def test_what_is_no_service() -> None:
    for named in (
        "cdmremote:x",
        "/cdmremote/x",
        "s3://b/cdmremote/x",
        "file:///cdmremote/x",
        "C:\\cdmremote",
    ):
        assert SERVICE.score(Seen.of(named)) is Score.NO
    assert SERVICE.score(Seen.of("https://h/thredds/cdmRemote/x.nc?req=header")) is Score.PLACE
    assert SERVICE.score(Seen.of("https://h/x?y=/cdmremote/")) is Score.LAST


def test_urls_of_sections() -> None:
    assert data_url("http://h/x", "/g/v", (range(3), range(1, 8, 2))) == (
        "http://h/x?req=data&var=/g/v(0:2,1:7:2)"
    )
    odd = data_url("http://h/x", "/a b&c#d::e+é", (range(2),))
    assert odd == "http://h/x?req=data&var=/a%20b%26c%23d%3A%3Ae%2B%C3%A9(0:1)"
    # It is taken for no chain of URLs, and sent as it is.
    assert split_url(odd).path == odd.removeprefix("http://h")


def test_ncml_has_every_kind_of_thing() -> None:
    n, time = wire.dimension("n", 3), wire.dimension("time", 2, unlimited=True)
    said = definition(
        dimensions=[n, time],
        variables=[
            wire.variable("v", wire.FLOAT, [time, n], [wire.number_attribute("range", wire.FLOAT, 0, 1)]),
            wire.variable("ragged", wire.UINT, [n, wire.VLEN]),
            wire.variable("e", wire.ENUM1, [n], enum="colours"),
            wire.variable("own", wire.CHAR, [wire.dimension(None, 8, private=True)]),
            wire.variable("other", wire.CHAR, [wire.dimension("n", 5, private=True)]),
        ],
        structures=[wire.structure("s", wire.STRUCTURE, [n], variables=[wire.variable("t", wire.STRING)])],
        attributes=[wire.text_attribute("words", "a|b", "c")],
        enums=[wire.enumeration("colours", {0: "red", 300: "blue"})],
        groups=[wire.group("g", variables=[wire.variable("inner", wire.LONG)])],
    )
    root = ElementTree.fromstring(ncml_text(said, "http://h/x"))
    shown = {each.get("name"): each for each in root.iter(f"{SPACE}variable")}
    assert {name: (each.get("type"), each.get("shape")) for name, each in shown.items()} == {
        "v": ("float", "time n"),
        "ragged": ("int", "n *"),
        "e": ("enum1", "n"),
        "own": ("char", "8"),
        "other": ("char", "5"),
        "s": ("Structure", "n"),
        "t": ("String", ""),
        "inner": ("long", ""),
    }
    assert shown["e"].get("typedef") == "colours"
    assert shown["s"].find(f"{SPACE}variable") is shown["t"]
    assert shown["ragged"].find(f"{SPACE}attribute").attrib == {"name": "_Unsigned", "value": "true"}
    about = shown["v"].find(f"{SPACE}attribute").attrib
    assert about == {
        "name": "range",
        "type": "float",
        "value": "0.0 1.0",
    }
    assert [each.attrib for each in root.findall(f"{SPACE}dimension")] == [
        {"name": "n", "length": "3"},
        {"name": "time", "length": "2", "isUnlimited": "true"},
    ]
    assert root.find(f"{SPACE}attribute").attrib == {"name": "words", "separator": ";", "value": "a|b;c"}
    assert root.find(f"{SPACE}enumTypedef").get("type") == "enum2"
    assert root.find(f"{SPACE}group").get("name") == "g"


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("featureType", "timeSeries", "STATION"),
        ("cdm_data_type", "Grid", "GRID"),
        ("featureType", "x", "ANY"),
    ],
)
def test_capabilities_name_the_kind_of_dataset(name: str, value: str, word: str) -> None:
    said = definition(attributes=[wire.text_attribute(name, value)])
    root = ElementTree.fromstring(capabilities_xml(said, "http://h/a&b"))
    assert root[0].attrib == {"type": word, "url": "http://h/a&b"}
    assert ElementTree.fromstring(capabilities_xml(definition(), "x"))[0].get("type") == "ANY"
