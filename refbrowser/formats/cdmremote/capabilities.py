"""What a service of CDM Remote offers, as XML (wire notes, section 6)."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from refbrowser.formats.cdmremote.xml_text import document
from refbrowser.formats.ncstream.definition import StreamDefinition

#: The kinds of datasets that CDM has words for.
_FEATURES = frozenset(
    {"GRID", "FMRC", "SWATH", "CURVILINEAR", "IMAGE", "RADIAL", "POINT", "PROFILE", "SECTION", "STATION"}
    | {"STATION_PROFILE", "STATION_RADIAL", "TRAJECTORY", "UGRID"}
)
#: Those of CF that have other words there.
_OF_CF = {"TIMESERIES": "STATION", "TIMESERIESPROFILE": "STATION_PROFILE", "TRAJECTORYPROFILE": "SECTION"}


def capabilities_xml(definition: StreamDefinition, url: str) -> str:
    """Return the capabilities of a service that offers a dataset at `url`."""
    root = Element("cdmRemoteCapabilities", location=url)
    SubElement(root, "featureDataset", type=_feature(definition), url=url)
    return document(root)


def _feature(definition: StreamDefinition) -> str:
    for name in ("cdm_data_type", "featureType"):
        attribute = definition.root.attributes.get(name)
        if attribute is not None and attribute.values:
            word = str(attribute.values[0]).upper()
            word = _OF_CF.get(word, word)
            if word in _FEATURES:
                return word
    return "ANY"
