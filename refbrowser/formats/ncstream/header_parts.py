"""Definitions that are too large for one header message, as several that extend each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from refbrowser.formats.ncstream.definition import StreamDefinition, StreamGroup, StreamVariable
from refbrowser.formats.ncstream.encode_header import header_body
from refbrowser.formats.ncstream.encoding import header_message

#: Bytes of one header, about, where a definition is cut: a reader need not hold more than this of it.
MOST = 16 * 1024 * 1024


def header_messages(definition: StreamDefinition) -> Iterator[bytes]:
    """Yield the header messages of a definition: one, unless it is very large (NcStream grammar, "Rules").

    Of several the first has everything but the variables, which the others bring, some at a time.
    """
    whole = header_message(definition)
    if len(whole) <= MOST:
        yield whole
        return
    yield header_message(replace(definition, root=_with(definition.root, "/", {})))
    batch: dict[str, StreamVariable] = {}
    size = 0
    for path, variable in definition.variables():
        own = len(header_body(StreamDefinition(root=StreamGroup(variables={variable.name: variable}))))
        if batch and size + own > MOST:
            yield header_message(StreamDefinition(root=_only(definition.root, "/", batch)))
            batch, size = {}, 0
        batch[path] = variable
        size += own
    if batch:
        yield header_message(StreamDefinition(root=_only(definition.root, "/", batch)))


def _with(group: StreamGroup, path: str, kept: dict[str, StreamVariable]) -> StreamGroup:
    """Return a group with some of its variables, by path, and all else."""
    variables = {name: each for name, each in group.variables.items() if path + name in kept}
    groups = {name: _with(below, f"{path}{name}/", kept) for name, below in group.groups.items()}
    return replace(group, variables=variables, groups=groups)


def _only(group: StreamGroup, path: str, kept: dict[str, StreamVariable]) -> StreamGroup:
    """Return a group with some variables, by path, and nothing else but what they lie in."""
    below = {
        name: _only(inner, f"{path}{name}/", kept)
        for name, inner in group.groups.items()
        if any(each.startswith(f"{path}{name}/") for each in kept)
    }
    variables = {name: each for name, each in group.variables.items() if path + name in kept}
    return StreamGroup(name=group.name, variables=variables, groups=below)
