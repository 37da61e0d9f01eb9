"""What a message is, in the words of its row."""

from __future__ import annotations

from refbrowser.formats.ncstream.messages import ByteOrder, MessageKind, MessageTable, Payload

KINDS = {
    MessageKind.HEADER: "header",
    MessageKind.DATA: "data",
    MessageKind.DATA_COLUMN: "column",
    MessageKind.ERROR: "error",
    MessageKind.POINT: "point",
    MessageKind.DAMAGED: "damaged",
}
ORDERS = {ByteOrder.ABSENT: "absent", ByteOrder.LITTLE: "little", ByteOrder.BIG: "big"}
_CONTENTS = {
    Payload.NONE: "",
    Payload.REGULAR: "plain",
    Payload.VARIABLE: "objects",
    Payload.STRUCTURE: "rows",
    Payload.SEQUENCE: "sequence",
    Payload.COLUMN: "columns",
}
#: Kinds that carry values.
DATA_KINDS = (MessageKind.DATA, MessageKind.DATA_COLUMN)


def section_words(section: tuple[range, ...] | None) -> str:
    """Return a section as it is written for ``--select``: ``0:10, 5, 0:100:2``."""
    if not section:
        return ""
    return ", ".join(range_words(part) for part in section)


def range_words(part: range) -> str:
    """Return one range of a section."""
    if len(part) == 1:
        return str(part.start)
    step = f":{part.step}" if part.step > 1 else ""
    return f"{part.start}:{part.stop}{step}"


def codec_words(table: MessageTable, row: int) -> str:
    """Return how the payload of a message is stored."""
    payload = Payload(int(table.payload[row]))
    if bool(table.deflated[row]):
        return "deflate"
    return _CONTENTS[payload]


def crc_words(table: MessageTable, row: int) -> str:
    """Return the checksum that a message names."""
    found = int(table.crc32[row])
    return "" if found < 0 else f"{found:08x}"


def order_words(table: MessageTable, row: int) -> str:
    """Return what a data message says of its byte order."""
    if MessageKind(int(table.kind[row])) not in DATA_KINDS:
        return ""
    return ORDERS[ByteOrder(int(table.byte_order[row]))]


def name_of(table: MessageTable, row: int) -> str:
    """Return the path of the variable that a message is of; empty where it is of none."""
    at = int(table.variable[row])
    return table.names[at] if at >= 0 else ""
