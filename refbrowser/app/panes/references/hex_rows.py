"""Bytes as rows of sixteen: offset, hex, characters."""

from __future__ import annotations

from refbrowser.app.widgets.table_models import Column

WIDTH = 16
HEX_COLUMNS = (Column("Offset", 110, right=True), Column("Bytes", 400), Column("Characters", 160, 1))


class HexRows:
    """A row model over bytes."""

    columns = HEX_COLUMNS

    def __init__(self, data: bytes) -> None:
        self._data = data

    def row_count(self) -> int:
        """Return the number of rows."""
        return -(-len(self._data) // WIDTH)

    def page(self, start: int, stop: int) -> list[list[str]]:
        """Return the texts of rows `start` to `stop`."""
        return [self._row(row * WIDTH) for row in range(start, stop)]

    def _row(self, offset: int) -> list[str]:
        part = self._data[offset : offset + WIDTH]
        characters = "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in part)
        return [f"{offset:08x}", f"{part[:8].hex(' ')}  {part[8:].hex(' ')}", characters]
