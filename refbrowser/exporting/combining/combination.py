"""What is to be combined, how, and what is done about what differs: plain values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from refbrowser.errors import quoted, usage_error
from refbrowser.exporting.combining.properties import ScannedSource, ScanSettings, is_named, short
from refbrowser.exporting.combining.renaming import Names
from refbrowser.exporting.option_fields import ExportOptions
from refbrowser.exporting.targets.reference_options import ReferenceOptions
from refbrowser.formats.option_fields import OPTIONS_WITHIN, Item, Kind, documented, option
from refbrowser.formats.reference_forms import form_of
from refbrowser.formats.registry import referring
from refbrowser.io.origins import ConnectionSettings, Origin
from refbrowser.model.cf import TimeUnits
from refbrowser.model.time_axis import DATE, AxisWords
from refbrowser.references.declarations.declared_arrays import Declarations
from refbrowser.words import either

#: In place of a file: each that a blocking difference names as the odd one.
ODD = "odd"
#: What `accept` may name: it cannot make wrong numbers of bytes that are read otherwise.
ACCEPTED = (
    "fill", "units", "calendar", "missing value", "valid range", "flags", "values",
    "presence", "gap", "overlap", "double", "disorder", "jitter", "within", "holes", "rounding",
)  # fmt: skip
#: What chunks that are written anew no longer differ in.
REENCODED = (
    "form", "type", "byte order", "codecs", "memory order", "fill", "chunks", "scale", "offset",
    "missing value", "sign", "references", "file ends",
)  # fmt: skip
#: How files become groups.
SPLITS = ("eras",)
#: Attributes that numbers are computed with: they are never said anew for bytes that mean something else.
COMPUTED = ("scale_factor", "add_offset", "_Unsigned")
#: Where the values of a new dimension come from.
SOURCES = ("name", "attribute", "variable", "list")
#: The attribute of a new coordinate that says where its values come from, as ``--new-dim`` does.
VALUES_FROM = "refbrowser_values_from"
#: A pattern that never takes long: no group is repeated, and there are no alternatives.
_PLAIN = re.compile(
    r"""(?: \((?:\?P<\w+>|\?:)? | [)$^](?![*+?{])
      | (?:\\[dDwWsS.\-] | \[\^?[^\]\[\\]+\] | [^\\\[\](){}|*+?^$])
        (?:[*+?] | \{\d{1,2}(?:,\d{1,2})?\})? )+""",
    re.VERBOSE,
)
#: What gives a part of it any length: a search takes as many powers of the length of a name.
_REPEATED = re.compile(r"[*+?](?![P:])|\{\d+,\d+\}")
#: How long it may be, and of how many such parts.
_LONGEST, _REPEATS = 200, 3
_DATE = ("year", "month", "day", "hour", "minute", "second")
_SINCE = "seconds since 1970-01-01"
#: Characters of a name that a pattern is searched in.
_NAME = 4_096


#: Below which the help lists what is of files that are combined alone.
_HEADING = "files that are combined"


def _some(named: str, help: str, about: str) -> Any:
    """Return a field of texts about what differs."""
    facts: dict[str, Any] = {"about": about, "kind": Kind.TEXTS, "heading": _HEADING}
    return field(default=(), metadata=option(named, f"{help} (repeatable)", **facts))


def _tick(named: str, help: str, about: str, heading: str = _HEADING) -> Any:
    facts: dict[str, Any] = {"about": about, "kind": Kind.TICK, "means": True, "heading": heading}
    return field(default=False, metadata=option(named, help, **facts))


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """What is combined, and what is done about what differs.

    Attributes
    ----------
    sources
        As `MakeRequest.sources`.
    options
        How the references are written.
    skip_bad
        Leave out files that cannot be read.
    allow, storage_options, settings
        As `OpenRequest` has them.
    extends
        The first source is a document that the others are added to: its values are the common ones.
    stale
        What becomes of files that are not those of the lock beside a document: as `OpenRequest` has it.
    opening
        Options of opening the files, as `OpenRequest.options` has them.
    declared
        What `declares` says, or the file beside the document.
    """

    sources: tuple[str, ...]
    target: str = field(
        default="",
        metadata=option(
            "--output OUT",
            "the document of a single file, or of files that are combined; else the folder of documents that "
            "have the names of their files",
            short="-o",
            needed=True,
            about="The document that is made.",
        ),
    )
    format: str = field(
        default="",
        metadata=option(
            "--to FORMAT",
            lambda: (
                f"{either(referring())}; if not given, the suffix of OUT says it "
                "(.parquet, .parq: refs-parquet, .icechunk: icechunk)"
            ),
            about="One of the forms of references; as the suffix of the target says where it is empty.",
            values=referring,
        ),
    )
    arrays: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--array ARRAY",
            "take this array only, with its coordinates (repeatable)",
            about="Names or paths of the arrays that are taken, with their coordinates; all where it is "
            "empty.",
            kind=Kind.TEXTS,
        ),
    )
    force: bool = _tick("--force", "replace documents that are there", "Replace the document.", "")
    resume: bool = _tick(
        "--resume",
        "leave documents that are newer than their files; go on with what an interrupted run found in files "
        "that are combined",
        "Go on with what an interrupted run for the same target found in files that are as they were; "
        "replace a document that is there.",
        "",
    )
    declares: str = field(
        default="",
        metadata=option(
            "--declares FILE",
            "hold each file against the properties that this one declares (type, dimensions, chunks, codecs, "
            "units...): one that does not conform is named, and nothing is written",
            about="A file whose member ``declares`` says what arrays of each file are like.",
        ),
    )
    options: ExportOptions = field(default_factory=ReferenceOptions, metadata=OPTIONS_WITHIN)
    leave_out: tuple[str, ...] = _some(
        "--leave-out FILE",
        "leave this file out (a path, its last part, or a pattern); odd: each that differs",
        "Files, or `ODD`.",
    )
    leave_out_var: tuple[str, ...] = _some(
        "--leave-out-var VAR", "leave this array out", "Names or paths of arrays that are left out."
    )
    take_as: tuple[str, ...] = _some(
        "--take-as VAR=NEW:FILES",
        "treat the array of these files (a pattern) as a separate one",
        "``NAME=OTHER:FILES``: the array of these files (a pattern) is another array.",
    )
    inline_var: tuple[str, ...] = _some(
        "--inline-var VAR",
        "store the values of this array in the document",
        "Names or paths of arrays whose values are to stand in the document.",
    )
    accept: tuple[str, ...] = _some(
        "--accept WHAT[:VAR]",
        f"use the common value although files differ: {either(ACCEPTED)}",
        "Properties, of `ACCEPTED` or ``PROPERTY:ARRAY``, of which the common value is taken for all files.",
    )
    time_units: str = field(
        default="",
        metadata=option(
            "--time-units UNITS",
            "convert times to these units: 'days since 2000-01-01'",
            about="In which times are expressed, where files have other ones.",
            heading=_HEADING,
        ),
    )
    reencode: bool = _tick(
        "--reencode",
        "write chunks that are stored otherwise than in most files again, as own chunks beside the "
        "references: other codecs, chunks, types or packing",
        "Write chunks of files that store an array otherwise than most again, as own chunks; numbers stay "
        "what they are, unless ``rounding`` is accepted.",
    )
    split: str = field(
        default="",
        metadata=option(
            "--split WAY",
            "eras: files that store arrays in other ways than those before them become a group of their own",
            about="``eras``: each run of files that store all arrays alike becomes a group of its own.",
            kind=Kind.CHOICE,
            items=tuple(Item(each, each) for each in SPLITS),
            heading=_HEADING,
        ),
    )
    sort: bool = _tick(
        "--sort",
        "lay files by their coordinates, not in the order given",
        "Lay files by the values of their coordinates, not in the order in which they are named.",
    )
    concat: tuple[str, ...] = _some(
        "--concat DIM",
        "lay all files along this dimension, into one document",
        "Dimensions of the files along which they are laid one after another.",
    )
    axis: tuple[str, ...] = _some(
        "--axis DIM=FROM:TO:STEP",
        "lay them on a regular axis of time, on which missing files, variables and times are holes: "
        "time=2015-01-01:2024-12-31:1D, time=::month",
        "``DIM=FROM:TO:STEP``: dimensions that are regular axes of time (`AxisWords.parse`); files are laid "
        "along them.",
    )
    select: tuple[str, ...] = _some(
        "--select TEXT",
        "take this part only: dates (time=2015-01:2016-12), values (lat=40:50) or indices (x@0:100); "
        "it begins where a chunk does",
        "``DIM=FROM:TO``, several after commas: what is taken along dimensions (`DimensionRange.parse`).",
    )
    rename: tuple[str, ...] = _some(
        "--rename OLD=NEW",
        "rename arrays and dimensions of this name",
        "``OLD=NEW``: arrays and dimensions that get other names.",
    )
    subchunk: tuple[str, ...] = _some(
        "--subchunk [VAR:]DIM=N",
        "cut chunks that are not compressed into chunks of N along their outermost dimension",
        "``DIM=N`` or ``ARRAY:DIM=N``: chunks without codecs are cut into smaller ones (`ChunkCut.parse`).",
    )
    new_dims: tuple[str, ...] = _some(
        "--new-dim NAME=FROM",
        r"lay them along a new dimension with values from name:PATTERN with a group, such as name:run(\d+), "
        "attribute:NAME, variable:NAME or list:A,B,C",
        "Further dimensions, ``NAME=FROM``: see `NewDimension.parse`.",
    )
    fold: bool = _tick(
        "--fold",
        "fold the references into templates and gen rules (refs-v1)",
        "Fold the references into templates and gen rules.",
    )
    merge: bool = _tick("--merge", "files may have different arrays", "Files may have different arrays.")
    set_attr: tuple[str, ...] = _some(
        "--set-attr [VAR]:NAME=VALUE",
        "give an array this attribute, or the whole dataset, whatever the files say: t:units=K, :title=Runs",
        "``ARRAY:NAME=VALUE``, or ``:NAME=VALUE`` of the whole dataset: the attribute of the result, "
        "whatever files say; JSON, else text.",
    )
    skip_bad: bool = False
    extends: bool = False
    allow: tuple[str, ...] = ()
    storage_options: tuple[str, ...] = ()
    settings: Mapping[Origin, ConnectionSettings] = field(default_factory=dict)
    stale: str = "refuse"
    opening: Mapping[str, Any] = field(default_factory=dict)
    declared: Declarations = field(default_factory=Declarations)

    def __post_init__(self) -> None:
        # Who names an axis lays files along it.
        new = {text.partition("=")[0] for text in self.new_dims}
        axes = [text.partition("=")[0] for text in self.axis]
        concat = (*self.concat, *(name for name in axes if name not in {*self.concat, *new}))
        object.__setattr__(self, "concat", concat)
        if not (concat or new) and (self.select or self.rename or self.subchunk):
            # A part of one file, or one with other names.
            object.__setattr__(self, "merge", True)

    def check(self) -> None:
        """Raise `E_USAGE` where something that is said has no meaning."""
        self.regular_axes()
        self.ranges()
        self.cuts()
        self.names()
        new = [each.name for each in self.new_dimensions()]
        twice = [name for name in {*self.concat, *new} if [*self.concat, *new].count(name) > 1]
        if not (self.concat or new or self.merge):
            raise usage_error("files are combined along a dimension, along a new one, or merged")
        if twice:
            raise usage_error(f"the dimension {quoted(twice[0])} is named twice")
        for text in self.accept:
            if text.partition(":")[0] not in ACCEPTED:
                raise usage_error(f"{quoted(text)} cannot be accepted", f"known: {', '.join(ACCEPTED)}")
        if self.time_units and TimeUnits.from_attributes({"units": self.time_units}) is None:
            raise usage_error(
                f"{quoted(self.time_units)} is not a unit of time", "for example 'days since 2000-01-01'"
            )
        if self.split and self.split not in SPLITS:
            raise usage_error(f"{quoted(self.split)} is no way to split", f"known: {', '.join(SPLITS)}")
        if self.split and (self.reencode or self.extends or not self.concat):
            message = "eras are made of files that are laid along a dimension, and stay as they are stored"
            raise usage_error(message, "give --concat DIM, and either --split or --reencode")
        form = form_of(self.target, self.format)
        options = self.options if isinstance(self.options, ReferenceOptions) else ReferenceOptions()
        if self.fold and (form != "refs-v1" or options.relative or options.url_template):
            raise usage_error("folding makes templates and gen rules, which only refs-v1 has")
        self.renamed()
        self.attributes_set()

    def regular_axes(self) -> list[AxisWords]:
        """Return the dimensions that are regular axes of time."""
        found = [AxisWords.parse(text) for text in self.axis]
        names = [each.name for each in found]
        if twice := [name for name in names if names.count(name) > 1]:
            raise usage_error(f"the axis {quoted(twice[0])} is said twice")
        return found

    def ranges(self) -> list[DimensionRange]:
        """Return what is taken along dimensions."""
        return [DimensionRange.parse(part) for text in self.select for part in text.split(",")]

    def cuts(self) -> list[ChunkCut]:
        """Return how chunks are cut smaller."""
        return [ChunkCut.parse(text) for text in self.subchunk]

    def names(self) -> Names:
        """Return the new names of arrays and dimensions."""
        return Names.parse(self.rename)

    def new_dimensions(self) -> list[NewDimension]:
        """Return the new dimensions."""
        return [NewDimension.parse(text) for text in self.new_dims]

    def renamed(self) -> list[tuple[str, str, str]]:
        """Return name, other name and files of `take_as`."""
        found = []
        for text in self.take_as:
            names, colon, files = text.partition(":")
            name, equals, other = names.partition("=")
            if not (colon and equals and name and other and files) or "/" in other:
                raise usage_error(f"{quoted(text)} is not of the form NAME=OTHER:FILES")
            found.append((name, other, files))
        return found

    def attributes_set(self) -> list[tuple[str, str, Any]]:
        """Return array, name and value of `set_attr`."""
        found = []
        for text in self.set_attr:
            names, equals, value = text.partition("=")
            array, colon, name = names.rpartition(":")
            if not (equals and colon and name and value):
                advice = "for example t:units=K, or :title=Runs for an attribute of the whole dataset"
                raise usage_error(f"{quoted(text)} is not of the form ARRAY:NAME=VALUE", advice)
            if name in COMPUTED:
                message = (
                    f"{quoted(name)} cannot be overridden: the stored numbers would change their meaning"
                )
                raise usage_error(message, "leave the odd files out, or treat the array as a separate one")
            found.append((array or "/", name, _json_or_text(value)))
        return found

    def sets(self, path: str) -> dict[str, Any]:
        """Return the attributes that are said of an array or group."""
        names = (path, path.rpartition("/")[2])
        return {name: value for array, name, value in self.attributes_set() if array in names}

    def accepts(self, kind: str, path: str) -> bool:
        """Tell whether a difference is accepted."""
        name = path.rpartition("/")[2]
        return bool({kind, f"{kind}:{path}", f"{kind}:{name}"} & set(self.accept))

    def looking(self) -> ScanSettings:
        """Return what is to be looked at in files."""
        valued = tuple(each.argument for each in self.new_dimensions() if each.kind == "variable")
        return ScanSettings(
            dimensions=self.concat,
            inline=self.inline_var,
            valued=valued,
            selected=tuple(each.name for each in self.ranges() if each.positions is None),
            allow=self.allow,
            storage_options=self.storage_options,
            settings=self.settings,
            stale=self.stale,
            opening=self.opening,
        )


#: Words of each remedy.
_WORDS = {
    "leave_out": "leave {} out",
    "leave_out_var": "leave the array {} out",
    "take_as": "treat it as a separate array, {}",
    "inline_var": "store the values of {} in the document",
    "split": "split into {}, a group each",
    "reencode": "re-encode the odd chunks",
    "accept": "use the common value",
    "set_attr": "say {} for all",
    "time_units": "count the times in {}",
    "sort": "place the files by their coordinates",
    "merge": "allow files with different variables",
}
#: What accepting means where there is no common value.
_ACCEPTED = {
    "values": "use the values that most files have",
    "presence": "read missing parts as the fill value",
    "overlap": "keep both, one after the other",
    "double": "use the last of them",
    "disorder": "leave the files in this order",
    "jitter": "put each time at the nearest one of the axis",
    "within": "put each time at the one of the axis before it",
    "holes": "let holes read as the fill value, like values",
    "rounding": "round them",
}
#: Those that are said, or not; those with one value.
_TICKS, _TEXTS = ("sort", "merge", "reencode"), ("time_units", "split")
RemedyKind = Literal[
    "leave_out", "leave_out_var", "take_as", "inline_var", "accept", "set_attr", "time_units",
    "sort", "merge", "reencode", "split",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Remedy:
    """What can be done about a difference.

    Attributes
    ----------
    kind
        The field of `Combination` that it changes.
    value
        What is added to the field, or stands in it; of ``reencode`` the array whose numbers may be rounded.
    """

    kind: RemedyKind
    value: str = ""

    @property
    def words(self) -> str:
        """What it does; files are named by the last parts of their paths."""
        value = self.value
        if self.kind == "accept":
            return _ACCEPTED.get(value.partition(":")[0], _WORDS["accept"])
        if self.kind == "leave_out":
            value = "the odd files" if value == ODD else short(value)
        elif self.kind == "take_as":
            value = value.partition(":")[0].partition("=")[2]
        elif self.kind == "reencode" and value:
            return f"{_WORDS[self.kind]}, rounded if need be"
        elif self.kind == "set_attr":
            value = " ".join(value.rpartition(":")[2].split("=", 1))
        return _WORDS[self.kind].format(value)

    def names(self, source: str) -> bool:
        """Tell whether it is about one file by name."""
        of_file = self.kind == "leave_out" and self.value == source
        return of_file or (self.kind == "take_as" and self.value.partition(":")[2] == source)

    def is_about(self, sources: Sequence[str]) -> bool:
        """Tell whether it is about one of some files, or about files in general."""
        of_files = {"leave_out": self.value, "take_as": self.value.partition(":")[2]}
        text = of_files.get(self.kind, ODD)
        return text == ODD or any(is_named(source, text) for source in sources)

    @property
    def option(self) -> str:
        """What says it on the command line."""
        flag = f"--{self.kind.replace('_', '-')}"
        if self.kind == "reencode" and self.value:
            return f"{flag} --accept {_shell(f'rounding:{self.value}')}"
        return flag if self.kind in _TICKS else f"{flag} {_shell(self.value)}"

    def applied(self, request: Combination) -> Combination:
        """Return a request that has it."""
        if self.kind in _TICKS:
            accepted = (f"rounding:{self.value}",) if self.kind == "reencode" and self.value else ()
            ticked: dict[str, Any] = {self.kind: True, "accept": (*request.accept, *accepted)}
            return replace(request, **ticked)
        if self.kind in _TEXTS:
            said: dict[str, Any] = {self.kind: self.value}
            return replace(request, **said)
        before: tuple[str, ...] = getattr(request, self.kind)
        changes: dict[str, Any] = {self.kind: tuple(dict.fromkeys((*before, self.value)))}
        return replace(request, **changes)


def _json_or_text(text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except ValueError:
        return text


def _shell(text: str) -> str:
    return text if re.fullmatch(r"[\w./:=,@%+-]+", text) else "'" + text.replace("'", "'\\''") + "'"


@dataclass(frozen=True, slots=True)
class NewDimension:
    """A dimension that files do not have.

    Attributes
    ----------
    kind
        One of `SOURCES`: the values come from the name of the file by a pattern, or from an attribute of its
        root, are the first value of an array, or are listed.
    argument
        Pattern, name, or values with commas between.
    """

    name: str
    kind: str
    argument: str

    @classmethod
    def parse(cls, text: str) -> NewDimension:
        """Return what ``NAME=FROM`` says: ``name:PATTERN``, ``attribute:A``, ``variable:V`` or ``list:A,B``.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: it is none of these.
        """
        name, equals, source = text.partition("=")
        kind, colon, argument = source.partition(":")
        if not equals or not name or "/" in name or not colon or kind not in SOURCES or not argument:
            advice = (
                r"for example run=name:run(\d+), member=attribute:realization, time=variable:time, x=list:1,2"
            )
            raise usage_error(f"{quoted(text)} is not of the form NAME=FROM", advice)
        if kind == "name":
            try:
                groups = re.compile(argument).groups
            except (re.error, OverflowError, RecursionError) as error:
                raise usage_error(f"{quoted(argument)} is not a pattern: {error}") from None
            if not groups:
                raise usage_error(f"the pattern {quoted(argument)} has no group", r"for example run(\d+)")
        return cls(name, kind, argument)

    def values(self, files: Sequence[ScannedSource]) -> tuple[list[Any], list[ScannedSource]]:
        """Return a value for each file (numbers where all are numbers), and the files that have none."""
        found = [self._value(file, number) for number, file in enumerate(files)]
        lacking = [file for file, value in zip(files, found, strict=True) if value is None]
        return ([] if lacking else _as_numbers(found)), lacking

    @property
    def is_date(self) -> bool:
        """Whether the groups of its pattern are parts of a date."""
        return self.kind == "name" and bool(set(re.compile(self.argument).groupindex) & set(_DATE))

    def attributes(self, files: Sequence[ScannedSource]) -> dict[str, Any]:
        """Return the attributes of the coordinate: where its values come from among them, for `append`."""
        found: dict[str, Any] = {}
        if self.is_date:
            found = {"units": _SINCE, "calendar": "proleptic_gregorian"}
        elif self.kind == "variable":
            for each in files[0].arrays:
                if self.argument in (each.name, each.path):
                    import json

                    found = {name: json.loads(text) for name, text in each.attributes}
                    break
        return found if self.kind == "list" else {**found, VALUES_FROM: f"{self.kind}:{self.argument}"}

    def _value(self, file: ScannedSource, number: int) -> Any:
        if self.kind == "list":
            listed = self.argument.split(",")
            return listed[number].strip() if number < len(listed) else None
        if self.kind == "attribute":
            import json

            root = next((attributes for path, attributes in file.groups if path == "/"), ())
            value = next((json.loads(text) for name, text in root if name == self.argument), None)
            return value[0] if isinstance(value, list) and len(value) == 1 else value
        if self.kind == "variable":
            paths = (path for path in file.values if self.argument in (path, path.rpartition("/")[2]))
            found = next((file.values[path] for path in paths), None)
            return None if found is None or found.size != 1 else found.reshape(-1)[0].item()
        match = re.search(self.argument, file.name[:_NAME]) or re.search(self.argument, file.source[:_NAME])
        if match is None:
            return None
        if self.is_date:
            return _seconds(match.groupdict())
        return match[1]


@dataclass(frozen=True, slots=True)
class DimensionRange:
    """What is taken along a dimension.

    Attributes
    ----------
    begin, end
        Dates, or values of the coordinate; the end is taken, too, and as a date all of the day, month or year
        that it names. Empty where there is no bound.
    positions
        Positions, as Python slices; None where dates or values are said.
    """

    name: str
    begin: str
    end: str
    positions: slice | None = None

    @classmethod
    def parse(cls, text: str) -> DimensionRange:
        """Return what ``DIM=FROM:TO``, ``DIM=DATE`` or ``DIM@A:B`` says.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: it is none of these.
        """
        match = _RANGE.fullmatch(text.strip())
        if match is None or not (match["first"] is not None or match["begin"] or match["end"]):
            raise usage_error(f"{quoted(text)} is not of the form DIM=FROM:TO", _RANGE_EXAMPLE)
        if match["first"] is not None:
            ends = (int(each) if each else None for each in (match["first"], match["last"]))
            return cls(match["name"], "", "", slice(*ends))
        begin = match["begin"] or ""
        return cls(match["name"], begin, match["end"] or "" if match["colon"] else begin)


_LABEL = rf"{DATE}|[-+]?[\d.]+(?:[eE][-+]?\d+)?"
_RANGE = re.compile(
    rf"(?P<name>[^=@]+)(?:@(?P<first>-?\d*):(?P<last>-?\d*)"
    rf"|=(?P<begin>{_LABEL})?(?:(?P<colon>:)(?P<end>{_LABEL})?)?)",
    re.ASCII,
)
_RANGE_EXAMPLE = "for example time=2015-01:2016-12, lat=40:50, time=2016 or x@0:100"


@dataclass(frozen=True, slots=True)
class ChunkCut:
    """Chunks that are to be cut smaller.

    Attributes
    ----------
    array
        Name or path; empty for all that can be.
    dimension, side
        Along which, and how long they are then.
    """

    array: str
    dimension: str
    side: int

    @classmethod
    def parse(cls, text: str) -> ChunkCut:
        """Return what ``DIM=N`` or ``ARRAY:DIM=N`` says.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: it is neither.
        """
        array, _, rest = text.rpartition(":")
        dimension, equals, side = rest.partition("=")
        if not (equals and dimension and re.fullmatch(r"[1-9]\d{0,17}", side, re.ASCII)):
            raise usage_error(f"{quoted(text)} is not of the form DIM=N", "for example time=1, or t:time=1")
        return cls(array, dimension, int(side))


def is_safe(source: str) -> bool:
    """Tell whether a document may say where values come from: what it says is done in little time."""
    kind, _, pattern = source.partition(":")
    is_short = len(source) <= _LONGEST
    if kind != "name":
        return is_short and kind in ("attribute", "variable")
    return is_short and _PLAIN.fullmatch(pattern) is not None and len(_REPEATED.findall(pattern)) <= _REPEATS


def _seconds(parts: Mapping[str, str | None]) -> int | None:
    from datetime import UTC, datetime

    numbers = {name: int(parts.get(name) or (1 if name in _DATE[1:3] else 0)) for name in _DATE}
    try:
        return int(datetime(**numbers, tzinfo=UTC).timestamp())
    except ValueError:
        return None


def _as_numbers(values: list[Any]) -> list[Any]:
    """Return texts as numbers where all of them are."""
    for kind in (int, float):
        try:
            return [kind(each) if isinstance(each, str) else each for each in values]
        except ValueError:
            continue
    return list(map(str, values))


def array_of(values: Sequence[Any]) -> Any:
    """Return the values of a new dimension as an array."""
    found = np.asarray(values)
    return found.astype("U") if found.dtype.kind not in "iuf" else found
