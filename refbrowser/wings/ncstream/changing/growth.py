"""What a dataset adds to a stream: a further header, and where the values of each of its variables belong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.wings.ncstream.changing.definition_trees import (
    AttributeChanges,
    attribute_changes,
    declaring_group,
    groups_of,
    with_variables,
)
from refbrowser.wings.ncstream.reading.definition import (
    StreamAttribute,
    StreamDefinition,
    StreamDimension,
    StreamType,
    StreamVariable,
)

#: Attributes that say what stored values mean: with others, those that are there would mean something else.
MEANING = (
    "units",
    "calendar",
    "scale_factor",
    "add_offset",
    "_FillValue",
    "missing_value",
    "_Unsigned",
    "flag_values",
    "flag_masks",
    "flag_meanings",
)


@dataclass(frozen=True, slots=True)
class Addition:
    """Values of one variable of the source.

    Attributes
    ----------
    path
        Of the variable, the same in both.
    variable
        As the stream defines it afterwards.
    origin
        Where the first element of the source goes, by dimension of fixed length.
    """

    path: str
    variable: StreamVariable
    origin: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What is to be added to a stream.

    Attributes
    ----------
    header
        The header to be written: only what is new or changed. None where nothing is.
    additions
        Whose values are written.
    kept
        Variables of both whose values stay as the stream has them.
    unfilled
        Variables of the stream that get longer and hold their fill value there.
    along, before, after
        The dimension that gets longer, and its lengths; None where none does.
    changed
        Attributes that are new or other ones, as ``/temp@units``.
    notes
        What a further header cannot say, or says beside, in words.
    """

    header: StreamDefinition | None = None
    additions: tuple[Addition, ...] = ()
    kept: tuple[str, ...] = ()
    unfilled: tuple[str, ...] = ()
    along: str | None = None
    before: int = 0
    after: int = 0
    changed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def growth_of(
    stream: StreamDefinition, source: StreamDefinition, along: str | None = None, *, overwrite: bool = False
) -> Growth:
    """Return what the values and attributes of a source add to a stream.

    Variables with the dimension are put behind those of the stream, new ones are added, and a sequence goes
    on. Others stay as they are, unless they are to be overwritten.

    Parameters
    ----------
    along
        Name or path of the dimension that gets longer, and is unlimited from then on. None takes the only
        unlimited one of both; with `overwrite` none gets longer than the source has it.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is no such dimension, or it is not clear which; `E_META`: a variable of both is not
        the same one, or its values would mean something else.
    """
    axis = None if overwrite and along is None else _axis(stream, source, along)
    growing = _Growing(stream, source, axis, overwrite=overwrite)
    return growing.growth()


def attribute_growth(stream: StreamDefinition, before: StreamDefinition, after: StreamDefinition) -> Growth:
    """Return the header with the attributes that an edit of a stream has changed.

    Parameters
    ----------
    stream
        What the headers of the stream say.
    before, after
        The dataset as it was opened, and as it is now.
    """
    changes = attribute_changes(before, after)
    existing = dict(stream.variables())
    restated = {
        path: _with_attributes(existing[path], found)
        for path, found in changes.variables.items()
        if path in existing
    }
    removed = tuple(
        f"the attribute {name} was removed, which a header cannot express" for name in changes.removed
    )
    header = with_variables(stream, restated, changes.groups, {})
    return Growth(header=header, changed=changes.names(), notes=removed)


@dataclass(frozen=True, slots=True)
class _Along:
    """A dimension that gets longer: its group in the stream, and its lengths there and in the source."""

    group: str
    name: str
    before: int
    more: int
    is_unlimited: bool

    @property
    def path(self) -> str:
        return f"{self.group.rstrip('/')}/{self.name}"


def _axis(stream: StreamDefinition, source: StreamDefinition, along: str | None) -> _Along | None:
    """Return the dimension that gets longer, None where nothing does."""
    here, there = dict(_dimensions(stream)), dict(_dimensions(source))
    if along is None:
        both = [path for path, each in here.items() if each.is_unlimited and path in there]
        if len(both) > 1:
            named = ", ".join(map(quoted, both))
            message = f"the stream has several unlimited dimensions: {named}"
            raise RefbrowserError(ErrorKind.USAGE, message, advice="name the one to extend: --concat DIM")
        return None if not both else _made(both[0], here, there)
    wanted = [path for path in here if along in (path, path.rpartition("/")[2])]
    if len(wanted) != 1:
        what = "no dimension" if not wanted else "more than one dimension"
        message = f"the stream has {what} {quoted(along)}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=f"there are: {', '.join(here) or 'none'}")
    path = wanted[0]
    if path not in there:
        raise RefbrowserError(ErrorKind.USAGE, f"the source has no dimension {quoted(path)}")
    return _made(path, here, there)


def _made(path: str, here: Mapping[str, StreamDimension], there: Mapping[str, StreamDimension]) -> _Along:
    group, _, name = path.rpartition("/")
    found = here[path]
    return _Along(group or "/", name, found.length, there[path].length, found.is_unlimited)


def _dimensions(definition: StreamDefinition) -> Iterator[tuple[str, StreamDimension]]:
    for path, group in groups_of(definition.root):
        for name, each in group.dimensions.items():
            if not each.is_vlen:
                yield f"{path.rstrip('/')}/{name}", each


@dataclass(slots=True)
class _Growing:
    """Compares a stream with a source, variable by variable."""

    stream: StreamDefinition
    source: StreamDefinition
    along: _Along | None
    overwrite: bool
    additions: list[Addition] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    unfilled: list[str] = field(default_factory=list)
    stated: dict[str, StreamVariable] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)

    def growth(self) -> Growth:
        """Return what is found."""
        changes = attribute_changes(self.stream, self.source)
        existing = dict(self.stream.variables())
        if self.along is not None:
            self.lengths[self.along.path] = self.along.before + self.along.more
        for path, variable in self.source.variables():
            self._add(path, variable, existing.get(path), changes)
        for path, variable in existing.items():
            self._restate(path, variable, changes)
        header = with_variables(self.stream, self.stated, changes.groups, self.lengths, self.source)
        grown = self.along if self.along is not None and self.along.more else None
        said = () if grown is None or grown.is_unlimited else (f"{grown.path} is unlimited from now on",)
        return Growth(
            header=header,
            additions=tuple(self.additions),
            kept=tuple(self.kept),
            unfilled=tuple(self.unfilled),
            along=None if grown is None else grown.path,
            before=0 if grown is None else grown.before,
            after=0 if grown is None else grown.before + grown.more,
            notes=said,
            changed=changes.names(),
        )

    def _add(
        self, path: str, new: StreamVariable, old: StreamVariable | None, changes: AttributeChanges
    ) -> None:
        """Note what becomes of a variable of the source."""
        if old is None:
            axes = self._axes(path, new, self.source)
            moved = _lengthened(new, axes, 0 if self.along is None else self.along.before + self.along.more)
            self.stated[path] = replace(moved, immediate=None)
            self._place(path, moved, axes)
            return
        self._check_same(path, old, new)
        axes = self._axes(path, old, self.stream)
        if axes:
            self._check_shape(path, old, new, but=axes)
            self._check_meaning(path, changes)
            self._check_immediate(path, old, axes)
            self._place(path, _lengthened(old, axes, self._length()), axes)
        elif old.type is StreamType.SEQUENCE:
            self._check_meaning(path, changes)
            self.additions.append(Addition(path, old, ()))
        elif self.overwrite:
            self._overwrite(path, old, new)
        else:
            self.kept.append(path)

    def _length(self) -> int:
        assert self.along is not None
        return self.along.before + self.along.more

    def _place(self, path: str, variable: StreamVariable, axes: tuple[int, ...]) -> None:
        before = 0 if self.along is None else self.along.before
        origin = tuple(before if axis in axes else 0 for axis in range(len(variable.shape)))
        self.additions.append(Addition(path, variable, origin))

    def _overwrite(self, path: str, old: StreamVariable, new: StreamVariable) -> None:
        """Note that the values of the source are laid over those of the stream."""
        longer = list(old.dimensions)
        for axis, (mine, yours) in enumerate(zip(old.dimensions, new.dimensions, strict=True)):
            if mine.is_unlimited and not mine.is_vlen and yours.length > mine.length:
                longer[axis] = replace(mine, length=yours.length)
                group = declaring_group(self.stream, path, mine.name)
                if group is not None:
                    name = f"{group.rstrip('/')}/{mine.name}"
                    self.lengths[name] = max(yours.length, self.lengths.get(name, 0))
        grown = replace(old, dimensions=tuple(longer))
        unlimited = tuple(axis for axis, each in enumerate(old.dimensions) if each.is_unlimited)
        self._check_shape(path, old, new, but=unlimited)
        if grown != old:
            self.stated[path] = grown
        self.additions.append(Addition(path, grown, (0,) * len(grown.shape)))

    def _restate(self, path: str, old: StreamVariable, changes: AttributeChanges) -> None:
        """Note a variable of the stream that is another afterwards."""
        axes = self._axes(path, old, self.stream)
        now = self.stated.get(path, old)
        if axes and self.along is not None and self.along.more:
            now = _lengthened(now, axes, self._length())
            if all(each.path != path for each in self.additions):
                self.unfilled.append(path)
        now = _with_attributes(now, changes.variables.get(path, {}))
        if now != old:
            self.stated[path] = now

    def _axes(self, path: str, variable: StreamVariable, of: StreamDefinition) -> tuple[int, ...]:
        """Return which axes of a variable are the dimension that gets longer."""
        along = self.along
        if along is None:
            return ()
        return tuple(
            axis
            for axis, each in enumerate(variable.dimensions)
            if each.name == along.name
            and not each.is_vlen
            and not each.is_private
            and declaring_group(of, path, each.name) == along.group
        )

    # What cannot be added

    def _check_same(self, path: str, old: StreamVariable, new: StreamVariable) -> None:
        for what, mine, yours in (
            ("type", old.type.name, new.type.name),
            ("dimensions", *_names(old, new)),
            ("members", _members(old), _members(new)),
        ):
            if mine != yours:
                message = (
                    f"the variable has different {what} in the source: {quoted(yours)}, not {quoted(mine)}"
                )
                raise RefbrowserError(ErrorKind.META, message, Place(path=path), "leave it out, or rename it")

    def _check_shape(
        self, path: str, old: StreamVariable, new: StreamVariable, *, but: tuple[int, ...]
    ) -> None:
        for axis, (mine, yours) in enumerate(zip(old.dimensions, new.dimensions, strict=True)):
            if axis not in but and not mine.is_vlen and mine.length != yours.length:
                lengths = f"{yours.length} long in the source, not {mine.length}"
                message = f"the dimension {quoted(mine.name)} is {lengths}"
                raise RefbrowserError(ErrorKind.META, message, Place(path=path))

    def _check_immediate(self, path: str, old: StreamVariable, axes: tuple[int, ...]) -> None:
        if old.immediate is not None and axes != (0,):
            message = "its values are in a header, and grow along a dimension other than the first"
            raise RefbrowserError(ErrorKind.META, message, Place(path=path), "compact the stream first")

    def _check_meaning(self, path: str, changes: AttributeChanges) -> None:
        changed = changes.variables.get(path, {})
        gone = {name.rpartition("@")[2] for name in changes.removed if name.startswith(f"{path}@")}
        for name in MEANING:
            if name in changed or name in gone:
                message = f"its attribute {quoted(name)} differs in the source"
                advice = "values would change their meaning: make both the same first"
                raise RefbrowserError(ErrorKind.META, message, Place(path=path, attribute=name), advice)


def _names(old: StreamVariable, new: StreamVariable) -> tuple[str, str]:
    """Return the names of the dimensions of both; of one that has none, or its own, that of the other."""
    if old.type is StreamType.SEQUENCE or len(old.dimensions) != len(new.dimensions):
        counts = (0, 0) if old.type is StreamType.SEQUENCE else (len(old.dimensions), len(new.dimensions))
        return str(counts[0]), str(counts[1])
    pairs = [
        ("*" if mine.is_vlen else mine.name, "*" if yours.is_vlen else yours.name)
        for mine, yours in zip(old.dimensions, new.dimensions, strict=True)
    ]
    named = [(mine or yours, yours or mine) for mine, yours in pairs]
    return ", ".join(mine for mine, _ in named), ", ".join(yours for _, yours in named)


def _members(variable: StreamVariable) -> str:
    return ", ".join(
        f"{each.type.name} {each.name}{each.shape or ''}{' *' if each.is_ragged else ''}"
        f"{f' {{{_members(each)}}}' if each.members else ''}"
        for each in variable.members
    )


def _lengthened(variable: StreamVariable, axes: tuple[int, ...], length: int) -> StreamVariable:
    if not axes:
        return variable
    dimensions = tuple(
        replace(each, length=length, is_unlimited=True) if axis in axes else each
        for axis, each in enumerate(variable.dimensions)
    )
    return replace(variable, dimensions=dimensions)


def _with_attributes(variable: StreamVariable, changed: Mapping[str, StreamAttribute]) -> StreamVariable:
    return replace(variable, attributes={**variable.attributes, **changed}) if changed else variable
