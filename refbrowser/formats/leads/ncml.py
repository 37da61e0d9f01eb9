"""NcML: the files that it puts together, and along what; the attributes that it gives them.

It is read as netCDF-Java does (NcML 2.2): ``union``, ``joinExisting`` and ``joinNew`` of files that are
listed or scanned, and attributes. What else it says is told, and not followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.lead import Lead, NamedSource
from refbrowser.formats.leads.places import Places
from refbrowser.formats.xml_elements import Element, XmlReader
from refbrowser.io.origins import scheme_of
from refbrowser.limits import LIMITS

_UNION, _EXISTING, _NEW = "union", "joinExisting", "joinNew"
#: Parts of a date in the names of files, as Java writes them, and as groups of a pattern.
_DATE = {
    "yyyy": ("year", 4),
    "MM": ("month", 2),
    "dd": ("day", 2),
    "HH": ("hour", 2),
    "mm": ("minute", 2),
    "ss": ("second", 2),
}
_DATES = re.compile("|".join(_DATE))
_LISTED = "all arrays but coordinates are laid along the new dimension, listed or not"
#: Types of attributes that are numbers.
_WHOLE = ("byte", "ubyte", "short", "ushort", "int", "uint", "long", "ulong", "int64", "uint64")
_FLOATING = ("float", "double")
#: What says nothing that the files do not say.
_PLAIN = ("explicit", "readMetadata", "dimension", "enumTypedef", "aggregation", "values", "logicalSlice")


def lead_of_ncml(data: bytes, place: str) -> Lead:
    """Return what an NcML puts together.

    Raises
    ------
    RefbrowserError
        It is no XML, declares entities, has another root, or names too many files.
    """
    root = XmlReader(place, LIMITS.lead_elements).read((data,))
    if root.name != "netcdf":
        raise RefbrowserError(ErrorKind.FORMAT, "its root is no netcdf")
    reading = _Reading(Places(place))
    reading.read(root)
    return reading.lead()


@dataclass(slots=True)
class _Reading:
    places: Places
    sources: list[NamedSource] = field(default_factory=list)
    #: The coordinate that each file is given, None where nothing is said.
    values: list[str | None] = field(default_factory=list)
    attributes: list[tuple[str, str, Any]] = field(default_factory=list)
    unsaid: list[str] = field(default_factory=list)
    kind: str = ""
    dimension: str = ""
    marks: list[str] = field(default_factory=list)
    has_scans: bool = False

    def read(self, root: Element) -> None:
        if location := root.attributes.get("location", "").strip():
            self._add(location, None)
        self._edits(root, "/")
        aggregations = list(root.named("aggregation"))
        if aggregations:
            self._aggregation(aggregations[0])
        if len(aggregations) > 1:
            self.unsaid.append("only the first of several aggregations is followed")
        if any(True for _ in root.named("remove")):
            self.unsaid.append("what it removes is kept")

    def lead(self) -> Lead:
        unsaid = (*dict.fromkeys(self.unsaid), *self.places.told())
        common: dict[str, Any] = {"sources": tuple(self.sources), "is_one": True}
        common |= {"attributes": tuple(self.attributes)}
        if self.kind == _EXISTING:
            if any(value is not None for value in self.values) or self.marks:
                unsaid += ("coordinates that it gives files are not taken: those in the files are",)
            return Lead(**common, concat=(self.dimension,), unsaid=unsaid)
        if self.kind == _NEW:
            return Lead(**common, new_dims=(f"{self.dimension}={self._values()}",), unsaid=unsaid)
        return Lead(**common, merge=True, unsaid=unsaid)

    def _values(self) -> str:
        """Return where the values of the new dimension come from, as ``--new-dim`` has it."""
        if self.marks:
            return f"name:{self.marks[0]}"
        if self.has_scans:
            return "name:([^/]+)"
        names = [each.url.rstrip("/").rpartition("/")[2] for each in self.sources]
        found = [name if value is None else value for name, value in zip(names, self.values, strict=True)]
        if any("," in text for text in found):
            self.unsaid.append("coordinates with commas are counted instead")
            found = [str(number) for number in range(len(found))]
        return f"list:{','.join(found)}"

    # Aggregations

    def _aggregation(self, said: Element) -> None:
        kind, self.dimension = said.attributes.get("type", ""), said.attributes.get("dimName", "")
        known = {each.lower(): each for each in (_UNION, _EXISTING, _NEW)}
        self.kind = known.get(kind.lower(), "")
        if not self.kind or (self.kind != _UNION and not self.dimension):
            message = f"its aggregation {quoted(kind)} is not followed: {_UNION}, {_EXISTING} and {_NEW} are"
            raise RefbrowserError(ErrorKind.FORMAT, message)
        for each in said.children:
            if each.name == "netcdf":
                self._nested(each)
            elif each.name in ("scan", "scanFmrc"):
                self._scan(each)
            elif each.name == "variableAgg":
                self.unsaid.append(_LISTED)
            elif each.name == "promoteGlobalAttribute":
                self.unsaid.append("attributes of files are not made variables")
            elif each.name != "cacheVariable":
                self.unsaid.append(f"its element {quoted(each.name)} is not followed")

    def _nested(self, said: Element) -> None:
        if any(True for _ in said.named("aggregation")):
            self.unsaid.append("an aggregation within an aggregation is left out")
            return
        if any(each.name not in ("explicit", "readMetadata") for each in said.children):
            self.unsaid.append("what it changes in single files is not changed")
        if location := said.attributes.get("location", "").strip():
            self._add(location, said.attributes.get("coordValue"))

    def _add(self, location: str, value: str | None) -> None:
        url = self.places.of(location)
        if url is not None:
            self.sources.append(NamedSource(url, value or ""))
            self.values.append(value if value is None else value.strip())

    def _scan(self, said: Element) -> None:
        """Add the files below a folder, as a pattern."""
        # Of the root nothing but the slash is left.
        folder = f"{(said.attributes.get('location', '').strip() or '.').rstrip('/')}/"
        suffix = said.attributes.get("suffix", "")
        self.has_scans = True
        is_deep = said.attributes.get("subdirs", "true") == "true"
        if is_deep and (scheme_of(folder) or scheme_of(self.places.place)) in ("http", "https"):
            self.unsaid.append("folders below those of a web server are not looked through")
            is_deep = False
        self._add(f"{folder}{'**/*' if is_deep else '*'}{suffix}", None)
        if said.attributes.get("regExp"):
            self.unsaid.append("files that do not fit its regular expression are taken too")
        if said.attributes.get("olderThan"):
            self.unsaid.append("files are taken however new they are")
        if mark := said.attributes.get("dateFormatMark"):
            self.marks.append(_pattern(mark))

    # Attributes

    def _edits(self, said: Element, path: str) -> None:
        """Take the attributes of a group or variable, and of those below."""
        for each in said.children:
            below = f"{path.rstrip('/')}/{each.attributes.get('name', '')}"
            if each.name == "attribute":
                self._attribute(each, path)
            elif each.name in ("group", "variable"):
                self._told_of(each, below)
                self._edits(each, below)
            elif each.name == "dimension" and each.attributes.get("orgName"):
                self.unsaid.append(f"the dimension {quoted(each.attributes['orgName'])} keeps its name")
            elif each.name == "remove" and path != "/":
                self.unsaid.append("what it removes is kept")
            elif each.name not in (*_PLAIN, "remove"):
                self.unsaid.append(f"its element {quoted(each.name)} is not followed")

    def _told_of(self, said: Element, path: str) -> None:
        if name := said.attributes.get("orgName"):
            self.unsaid.append(f"{quoted(name)} keeps its name")
        if said.first("values") is not None:
            self.unsaid.append(f"the values that it gives {quoted(path)} are not taken")

    def _attribute(self, said: Element, path: str) -> None:
        name = said.attributes.get("name", "")
        if said.attributes.get("orgName"):
            self.unsaid.append(f"the attribute {quoted(said.attributes['orgName'])} of {path} keeps its name")
            return
        try:
            self.attributes.append((path, name, _value(said)))
        except ValueError:
            self.unsaid.append(f"the attribute {quoted(name)} of {path} is no {said.attributes.get('type')}")


def _value(said: Element) -> Any:
    """Return the value of an attribute; raises ValueError where it is not of its type."""
    kind, text = said.attributes.get("type", "String"), said.attributes.get("value", said.text.strip())
    if kind not in (*_WHOLE, *_FLOATING):
        separator = said.attributes.get("separator")
        return text.split(separator) if separator else text
    number = int if kind in _WHOLE else float
    values = [number(each) for each in text.split(said.attributes.get("separator"))]
    return values[0] if len(values) == 1 else values


def _pattern(mark: str) -> str:
    """Return the pattern of a ``dateFormatMark``: what stands before the date, ``#``, and the date."""
    before, _, date = mark.rpartition("#")
    parts: Iterator[str] = (_plain(each) for each in before)
    found, at = ["".join(parts)], 0
    for part in _DATES.finditer(date):
        name, digits = _DATE[part[0]]
        found += ["".join(map(_plain, date[at : part.start()])), rf"(?P<{name}>\d{{{digits}}})"]
        at = part.end()
    return "".join((*found, *map(_plain, date[at:])))


def _plain(letter: str) -> str:
    """Return a letter as a pattern has it; any, where it means something else there."""
    if letter in ".-":
        return f"\\{letter}"
    return letter if letter not in r"\[](){}|*+?^$'" else ("" if letter == "'" else ".")
