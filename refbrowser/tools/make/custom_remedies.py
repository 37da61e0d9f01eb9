"""What can be done about a difference of files in the user's own words, and whether these are valid."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.errors import RefbrowserError
from refbrowser.exporting.combining.array_of_files import ArrayOfFiles
from refbrowser.exporting.combining.combination import Combination, Remedy
from refbrowser.exporting.combining.mismatches import Mismatch
from refbrowser.exporting.combining.properties import is_named, short
from refbrowser.model.cf import TimeUnits
from refbrowser.views.words import one_line
from refbrowser.words import count_text

#: Files that are named.
_NAMED = 3
#: Differences of stored bytes that another attribute does not mend, and those of how files lie.
_NOT_RENAMED = ("shape", "presence", "values", "gap", "overlap", "double", "disorder", "new dimension")
_TEXTS = ("units", "calendar")


@dataclass(frozen=True, slots=True)
class Answer:
    """What is thought of what was typed: why it is not valid, or what comes of it."""

    words: str
    is_valid: bool = True


@dataclass(frozen=True, slots=True)
class CustomRemedy:
    """A way out that the user says the rest of.

    Attributes
    ----------
    title, verb
        What it does, ``Express the times in``; of its button.
    label
        Of the field.
    start
        What stands in the field at first.
    mismatch
        What it is about.
    sources
        All files.
    kind
        The field of `Combination`.
    names
        Of arrays that are there.
    """

    title: str
    verb: str
    label: str
    start: str
    kind: str
    mismatch: Mismatch
    sources: tuple[str, ...]
    names: frozenset[str]

    def answer(self, text: str) -> Answer:
        """Return what is thought of a text."""
        text = text.strip()
        if not text:
            return Answer("Say something.", is_valid=False)
        found: Answer = getattr(self, f"_{self.kind}")(text)
        return found

    def remedies(self, text: str) -> tuple[Remedy, ...]:
        """Return what does it."""
        text, mismatch = text.strip(), self.mismatch
        if self.kind == "take_as":
            name = mismatch.path.rpartition("/")[2]
            return tuple(Remedy("take_as", f"{name}={text}:{file}") for file in mismatch.files)
        if self.kind == "set_attr":
            return (Remedy("set_attr", f"{mismatch.path}:{mismatch.name}={self._value(text)}"),)
        if self.kind == "time_units":
            return (Remedy("time_units", text),)
        return (Remedy("leave_out", text),)

    def _leave_out(self, text: str) -> Answer:
        found = [each for each in self.sources if is_named(each, text)]
        if not found:
            return Answer("No file has this name. * matches any characters.", is_valid=False)
        if len(found) == len(self.sources):
            return Answer("All files have this name: none would be left.", is_valid=False)
        names = ", ".join(one_line(short(each)) for each in found[:_NAMED])
        more = ", …" if len(found) > _NAMED else ""
        return Answer(
            f"Leaves out {count_text(len(found))} of {count_text(len(self.sources))}: {names}{more}"
        )

    def _take_as(self, text: str) -> Answer:
        if any(each in text for each in "/:=") or text != text.strip():
            return Answer("A name cannot contain /, : or =.", is_valid=False)
        if text in self.names:
            return Answer(f"An array {one_line(text)} exists already.", is_valid=False)
        files = self.mismatch.files
        which = one_line(short(files[0])) if len(files) == 1 else f"{count_text(len(files))} files"
        return Answer(
            f"{one_line(self.mismatch.path)} of {which} becomes {one_line(text)}, missing in the others."
        )

    def _time_units(self, text: str) -> Answer:
        units = TimeUnits.from_attributes({"units": text})
        try:
            if units is None:
                return Answer("Not a unit of time: 'days since 2000-01-01', for example.", is_valid=False)
            (date,) = units.dates(np.array([0]))
        except RefbrowserError:
            return Answer("There is no such date.", is_valid=False)
        begin = date.isoformat(" ").removesuffix(" 00:00:00")
        return Answer(f"All times are counted in {units.unit} from {begin}.")

    def _set_attr(self, text: str) -> Answer:
        name = self.mismatch.name
        if name == "calendar":
            try:
                found = TimeUnits.from_attributes({"units": "days since 2000-01-01", "calendar": text})
                assert found is not None
                found.dates(np.array([0]))
            except RefbrowserError:
                known = "standard, noleap, all_leap, 360_day, julian"
                return Answer(f"Not a calendar: {known}, for example.", is_valid=False)
        elif name not in _TEXTS and not _is_number(self._value(text)) and self._expects_numbers():
            return Answer("Not a number, as the files have it; write several in [ ].", is_valid=False)
        return Answer(f"All files are treated as having {name} {one_line(text)}; the stored numbers stay.")

    def _expects_numbers(self) -> bool:
        values = (self.mismatch.common, *(each.value for each in self.mismatch.odd))
        return any(_is_number(each) for each in values)

    def _value(self, text: str) -> str:
        """Return the value as `Combination.set_attr` has it: quoted where a text would be read as another."""
        is_other = self.mismatch.name in _TEXTS and not isinstance(_parsed(text), str)
        return json.dumps(text) if is_other else text


def _is_number(text: str) -> bool:
    value = _parsed(text)
    values = value if isinstance(value, list) and value else [value]
    return all(isinstance(each, int | float) and not isinstance(each, bool) for each in values)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _plain(text: str) -> str:
    """Return a value as it is typed."""
    value = _parsed(text)
    return value if isinstance(value, str) else text


def custom_remedies(
    mismatch: Mismatch, request: Combination, sources: Sequence[str], arrays: Sequence[ArrayOfFiles]
) -> list[CustomRemedy]:
    """Return the ways out of a difference that ask for words.

    Parameters
    ----------
    sources
        All files that may be left out.
    arrays
        Of the result.
    """
    known = frozenset(each.path.rpartition("/")[2] for each in arrays)
    placed = {each.path for each in arrays if each.role == "placed"}
    name = mismatch.path.rpartition("/")[2]

    def way(kind: str, title: str, verb: str, label: str, start: str) -> CustomRemedy:
        return CustomRemedy(title, verb, label, start, kind, mismatch, tuple(sources), known)

    found = []
    common = _plain(mismatch.common)
    is_time = mismatch.name == "units" and TimeUnits.from_attributes({"units": common}) is not None
    if is_time:
        found.append(way("time_units", "Express the times in other units", "Express", "Units", common))
    said = mismatch.kind in ("units", "calendar", "missing value", "valid range", "flags")
    if said and not request.extends and (not is_time or mismatch.kind != "units"):
        found.append(way("set_attr", f"Set {mismatch.name} for all files", "Say so", mismatch.name, common))
    if mismatch.path in placed and mismatch.kind not in _NOT_RENAMED and mismatch.odd:
        number = next(each for each in range(2, len(known) + 3) if f"{name}_{each}" not in known)
        found.append(
            way("take_as", "Take it as another array", "Take", "Name of the array", f"{name}_{number}")
        )
    if mismatch.files and len(sources) > 1:
        found.append(
            way("leave_out", "Leave files out by name", "Leave out", "Files named", short(mismatch.files[0]))
        )
    return found
