"""Definitions of streams compared and put together: attributes that differ, and a header of what is new."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.wings.ncstream.reading.definition import (
    StreamAttribute,
    StreamDefinition,
    StreamDimension,
    StreamGroup,
    StreamVariable,
)

Attributes = Mapping[str, StreamAttribute]


@dataclass(slots=True)
class AttributeChanges:
    """Attributes that are new or changed, by the path of their group or variable, and those that are gone."""

    groups: dict[str, dict[str, StreamAttribute]] = field(default_factory=dict)
    variables: dict[str, dict[str, StreamAttribute]] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)

    def names(self) -> tuple[str, ...]:
        """Return those that are new or other ones, as ``/temp@units``."""
        both = (self.groups, self.variables)
        return tuple(f"{path}@{name}" for each in both for path, found in each.items() for name in found)


def groups_of(root: StreamGroup, path: str = "/") -> Iterator[tuple[str, StreamGroup]]:
    """Yield every group with its absolute path, parents first."""
    yield path, root
    for name, group in root.groups.items():
        yield from groups_of(group, f"{path.rstrip('/')}/{name}")


def declaring_group(definition: StreamDefinition, variable: str, name: str) -> str | None:
    """Return the path of the group whose dimension a variable means by a name, None where none has it."""
    groups = dict(groups_of(definition.root))
    path = variable.rpartition("/")[0]
    while True:
        if path in groups or not path:
            group = groups.get(path or "/")
            if group is not None and name in group.dimensions:
                return path or "/"
        if not path:
            return None
        path = path.rpartition("/")[0]


def attribute_changes(before: StreamDefinition, after: StreamDefinition) -> AttributeChanges:
    """Return how the attributes of nodes that both have differ."""
    changes = AttributeChanges()
    old_groups = dict(groups_of(before.root))
    for path, group in groups_of(after.root):
        if path in old_groups:
            _compare(path, old_groups[path].attributes, group.attributes, changes.groups, changes.removed)
    old_variables = dict(before.variables())
    for path, variable in after.variables():
        if path in old_variables:
            found = old_variables[path].attributes
            _compare(path, found, variable.attributes, changes.variables, changes.removed)
    return changes


def _compare(
    path: str,
    old: Attributes,
    new: Attributes,
    changed: dict[str, dict[str, StreamAttribute]],
    removed: list[str],
) -> None:
    differing = {
        name: each for name, each in new.items() if name not in old or not same_attribute(old[name], each)
    }
    if differing:
        changed[path] = differing
    removed += [f"{path}@{name}" for name in old if name not in new]


def same_attribute(one: StreamAttribute, other: StreamAttribute) -> bool:
    """Tell whether two attributes say the same; NaN is NaN here."""
    if one.type is not other.type or len(one.values) != len(other.values):
        return False
    # NaN is the only value that is not itself.
    return all(
        mine == yours or (mine != mine and yours != yours)
        for mine, yours in zip(one.values, other.values, strict=True)
    )


def with_members(definition: StreamDefinition, said: StreamDefinition) -> StreamDefinition:
    """Return a definition whose structures have the members that a stream says, with their attributes."""
    return replace(definition, root=_with_members(definition.root, said.root))


def _with_members(group: StreamGroup, said: StreamGroup) -> StreamGroup:
    variables = {}
    for name, each in group.variables.items():
        known = said.variables.get(name)
        names = [member.name for member in each.members]
        same = known is not None and names and names == [member.name for member in known.members]
        variables[name] = replace(each, members=known.members) if known is not None and same else each
    groups = {
        name: _with_members(below, said.groups.get(name, StreamGroup()))
        for name, below in group.groups.items()
    }
    return replace(group, variables=variables, groups=groups)


def with_chosen(definition: StreamDefinition, paths: Collection[str]) -> StreamDefinition:
    """Return a definition with some of its variables, what they need, and no attributes of groups."""
    return replace(definition, root=_chosen(definition.root, "/", paths))


def _chosen(group: StreamGroup, path: str, paths: Collection[str]) -> StreamGroup:
    prefix = path.rstrip("/") + "/"
    groups = {name: _chosen(below, prefix + name, paths) for name, below in group.groups.items()}
    variables = {name: each for name, each in group.variables.items() if prefix + name in paths}
    used = {each.name for variable in variables.values() for each in variable.dimensions}
    for below in groups.values():
        used |= _used(below)
    return replace(
        group,
        variables=variables,
        dimensions={name: each for name, each in group.dimensions.items() if name in used},
        attributes={},
        groups={name: below for name, below in groups.items() if below.groups or below.variables},
    )


def _used(group: StreamGroup) -> set[str]:
    """Return the names of the dimensions of all variables in a group and below."""
    found = {each.name for variable in group.variables.values() for each in variable.dimensions}
    return found.union(*map(_used, group.groups.values()))


def with_variables(
    stream: StreamDefinition,
    stated: Mapping[str, StreamVariable],
    attributes: Mapping[str, Attributes],
    lengths: Mapping[str, int],
    source: StreamDefinition | None = None,
) -> StreamDefinition | None:
    """Return a header that goes on from those of a stream; None where it would say nothing.

    Parameters
    ----------
    stated
        Variables that are new or changed, whole.
    attributes
        Changed attributes of groups.
    lengths
        New lengths of dimensions, by their path.
    source
        Its groups, dimensions and enumerations that the stream lacks are taken over.

    Raises
    ------
    RefbrowserError
        `E_META`: an enumeration or dimension of both is not the same.
    """
    old = dict(groups_of(stream.root))
    new = {} if source is None else dict(groups_of(source.root))
    made: dict[str, StreamGroup] = {}
    for path in dict.fromkeys((*old, *new)):
        parts = _Parts(path, old.get(path), new.get(path))
        made[path] = StreamGroup(
            name=path.rpartition("/")[2],
            dimensions=parts.dimensions(lengths),
            variables={
                each.rpartition("/")[2]: variable
                for each, variable in stated.items()
                if (each.rpartition("/")[0] or "/") == path
            },
            attributes=parts.attributes(attributes.get(path, {})),
            enums=parts.enums(),
        )
    kept = {path for path, group in made.items() if path not in old or _says_something(group)}
    if not kept:
        return None
    return StreamDefinition(root=_nested("/", made, kept))


def _says_something(group: StreamGroup) -> bool:
    return bool(group.dimensions or group.variables or group.attributes or group.enums)


def _nested(path: str, made: Mapping[str, StreamGroup], kept: set[str]) -> StreamGroup:
    """Return a group with the groups below it that lead to something."""
    prefix = path.rstrip("/") + "/"
    below = {
        each.rpartition("/")[2]: _nested(each, made, kept)
        for each in made
        if each != path
        and (each.rpartition("/")[0] or "/") == path
        and any(other == each or other.startswith(f"{each}/") for other in kept)
    }
    return replace(made[path], groups=below, name="" if prefix == "/" else made[path].name)


@dataclass(frozen=True, slots=True)
class _Parts:
    """One group as the stream and the source have it; None where one has none."""

    path: str
    old: StreamGroup | None
    new: StreamGroup | None

    def dimensions(self, lengths: Mapping[str, int]) -> dict[str, StreamDimension]:
        """Return the dimensions that are new or longer."""
        found: dict[str, StreamDimension] = {}
        known = self.old.dimensions if self.old is not None else {}
        for name, each in known.items():
            length = lengths.get(self._path_of(name), each.length)
            if length != each.length:
                found[name] = replace(each, length=length, is_unlimited=True)
        for name, each in (self.new.dimensions if self.new is not None else {}).items():
            if name not in known:
                length = lengths.get(self._path_of(name), each.length)
                found[name] = replace(each, length=length)
        return found

    def attributes(self, changed: Attributes) -> dict[str, StreamAttribute]:
        """Return the attributes that are new or other ones; all of a new group."""
        if self.old is None and self.new is not None:
            return dict(self.new.attributes)
        return dict(changed)

    def enums(self) -> dict[str, Mapping[int, str]]:
        """Return the enumerations that are new."""
        known = self.old.enums if self.old is not None else {}
        found: dict[str, Mapping[int, str]] = {}
        for name, names in (self.new.enums if self.new is not None else {}).items():
            if name not in known:
                found[name] = names
            elif dict(known[name]) != dict(names):
                message = f"the enumeration {quoted(name)} has different names in the source"
                raise RefbrowserError(ErrorKind.META, message, Place(path=self.path))
        return found

    def _path_of(self, name: str) -> str:
        return f"{self.path.rstrip('/')}/{name}"
