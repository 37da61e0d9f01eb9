"""What arrived of the message that a stream was cut off within, as a message with a shorter section."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from refbrowser.exporting.streams.sections import variable_of
from refbrowser.exporting.streams.splicing import Part
from refbrowser.formats.ncstream import magics
from refbrowser.formats.ncstream.bytes import ByteSource, Window, write_varint
from refbrowser.formats.ncstream.descriptor import DATA
from refbrowser.formats.ncstream.messages import Payload, StreamIndex
from refbrowser.formats.ncstream.pieces import arrived_elements
from refbrowser.formats.ncstream.reading import Stretch, arrived_objects, arrived_stretches, block
from refbrowser.formats.ncstream.sections import sections_of


@dataclass(frozen=True, slots=True)
class Shortened:
    """A message that is made in the place of the one that was cut.

    Attributes
    ----------
    number
        Of the message that was cut.
    section
        What it gives: whole rows of the outermost dimension that has several, the first ones.
    head, start, stop
        Its bytes: those before the elements, and where these lie in the stream.
    """

    number: int
    section: tuple[range, ...]
    head: bytes
    start: int
    stop: int

    @property
    def parts(self) -> list[Part]:
        """The message."""
        return [self.head, (self.start, self.stop)]

    def __str__(self) -> str:
        return ", ".join(
            f"{each.start}:{each.stop}" + (f":{each.step}" if each.step != 1 else "") for each in self.section
        )


def shortened(index: StreamIndex, source: ByteSource) -> Shortened | None:
    """Return the message for what arrived of the last one; None where nothing is to be kept of it.

    Raises
    ------
    RefbrowserError
        The stream cannot be read.
    """
    table, number = index.table, index.table.cut
    if number is None:
        return None
    variable = variable_of(index.definition, table.names[table.variable[number]])
    if variable is None:
        return None
    sections, _bad = sections_of(table, np.array([number]), variable.shape)
    found = arrived_stretches(table.ranges(number) or (), arrived_elements(table, variable))
    if not len(sections) or not found:
        return None
    window, rows = Window(source), found[0]
    start, count = int(table.payload_offset[number]), prod(map(len, rows.section))
    if table.payload[number] == Payload.VARIABLE:
        stop, length = arrived_objects(window, start, count).stop, count
    else:
        length = count * int(table.payload_length[number]) // int(table.count[number])
        stop = start + length
    head = _body(window, int(table.offset[number]), rows)
    return Shortened(number, rows.section, head + write_varint(length), start, stop)


def _body(window: Window, offset: int, rows: Stretch) -> bytes:
    """Return the message before its payload, with another section and without what was true of all of it."""
    span = block(window, offset + magics.LENGTH, "a message about data")
    data = DATA.FromString(window.bytes_at(span.start, span.stop - span.start))
    for written, each in zip(data.section.range, rows.section, strict=False):
        written.start, written.size = each.start, len(each)
    data.ClearField("crc32")
    data.ClearField("uncompressedSize")
    body = data.SerializeToString()
    return magics.DATA + write_varint(len(body)) + body
