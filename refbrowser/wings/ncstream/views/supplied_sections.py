"""Which section of a variable each of its messages gave, those that were replaced too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from refbrowser.wings.ncstream.reading.definition import StreamDefinition, StreamGroup, StreamVariable
from refbrowser.wings.ncstream.reading.messages import MessageKind, Payload, StreamIndex
from refbrowser.wings.ncstream.reading.pieces import arrived_elements
from refbrowser.wings.ncstream.reading.sections import Given, Ints, Sections, given_by, left_out, spreading_of
from refbrowser.wings.ncstream.reading.stream_layouts import unlimited_axes


def messages_of(index: StreamIndex, path: str, until: int | None = None) -> Ints:
    """Return the numbers of the data messages of a variable up to `until`, ascending, damaged ones too."""
    numbers = index.of_variable(path)
    return numbers if until is None else numbers[numbers <= until]


def supplied_sections(
    index: StreamIndex, path: str, shape: Sequence[int], until: int | None = None
) -> Sections:
    """Return what the messages of a variable give, or damaged ones were to give.

    Those whose section does not fit it are left out, and what came before them, since they may have replaced
    any of it. Immediate data counts as the first message of its variable: that of the header it came in.

    Parameters
    ----------
    shape
        Of the variable, without a dimension of variable length.
    until
        Number of the last message that counts; all of them where None.
    """
    numbers = messages_of(index, path, until)
    is_sequence = index.table.payload[numbers] == Payload.SEQUENCE
    is_sequence &= index.table.kind[numbers] != MessageKind.DAMAGED
    if is_sequence.any():
        return _rows_of_sequence(index, numbers[is_sequence])
    variable = variable_of(index.definition, path)
    unlimited = () if variable is None else unlimited_axes(variable)
    spreading = spreading_of(index)
    spreading = spreading if until is None else spreading[spreading <= until]
    given = given_by(index.table, numbers, tuple(shape), spreading, unlimited)
    found = _together(given)
    if any(each.variable in (None, path) and each.after is not None for each in left_out(index.definition)):
        # Where what a repair left out stood is not shown: what nothing gives may be of it.
        found = replace(found, has_lost_rest=True)
    if len(found) and int(found.numbers[-1]) == index.table.cut and variable is not None:
        found = replace(found, arrived=arrived_elements(index.table, variable))
    header = immediate_header(index, path, until)
    if header is None or given.hidden >= 0:
        return found
    whole = np.asarray(shape, np.int64)[None, :]
    return Sections(
        np.concatenate([[header], found.numbers]),
        np.concatenate([np.zeros_like(whole), found.starts]),
        np.concatenate([whole, found.sizes]),
        np.concatenate([np.ones_like(whole), found.strides]),
        found.arrived,
        None if found.damaged is None else np.concatenate([[False], found.damaged]),
        found.has_lost_rest,
    )


def _together(given: Given) -> Sections:
    """Return sections of sound and damaged messages in the order of the messages."""
    sound, lost = given.sections, given.lost.sections
    if not len(lost):
        return replace(sound, has_lost_rest=given.lost.rest >= 0)
    order = np.argsort(np.concatenate([sound.numbers, lost.numbers]), kind="stable")
    return Sections(
        np.concatenate([sound.numbers, lost.numbers])[order],
        np.concatenate([sound.starts, lost.starts])[order],
        np.concatenate([sound.sizes, lost.sizes])[order],
        np.concatenate([sound.strides, lost.strides])[order],
        damaged=order >= len(sound),
        has_lost_rest=given.lost.rest >= 0,
    )


def section_of(sections: Sections, message: int) -> tuple[range, ...] | None:
    """Return what one message gave, a range for each dimension; None where it is none of them."""
    at = int(np.searchsorted(sections.numbers, message))
    if at >= len(sections) or int(sections.numbers[at]) != message:
        return None
    return sections.section(at)


def immediate_header(index: StreamIndex, path: str, until: int | None) -> int | None:
    """Return the number of the first header up to `until` that brought values of a variable, or None."""
    for number, definition in index.headers:
        if until is not None and number > until:
            return None
        variable = variable_of(definition, path)
        if variable is not None and variable.immediate is not None:
            return number
    return None


def variable_of(definition: StreamDefinition, path: str) -> StreamVariable | None:
    """Return the variable of an absolute path, or None where there is none."""
    *groups, name = path.strip("/").split("/")
    group: StreamGroup | None = definition.root
    for each in groups:
        group = None if group is None else group.groups.get(each)
    return None if group is None else group.variables.get(name)


def _rows_of_sequence(index: StreamIndex, numbers: Ints) -> Sections:
    """Return the rows that each message of a sequence appended."""
    counts = np.maximum(index.table.count[numbers], 0)
    starts = np.concatenate([[0], np.cumsum(counts)])[:-1].astype(np.int64)
    ones = np.ones((len(numbers), 1), np.int64)
    return Sections(numbers, starts[:, None], counts[:, None], ones).taken(counts > 0)
