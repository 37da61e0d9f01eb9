"""How Parquet and Feather are to be written: compressed or not, how many rows together, with which types."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.exporting.store_options import Sides

#: Formats of tables.
TABLE_FORMATS = ("parquet", "feather")
TableFormat = Literal["parquet", "feather"]
#: Bytes of the rows of one row group or record batch, uncompressed, at most.
GROUP_SIZE = 64 * 1024 * 1024
#: Codecs of each format, with the levels that they have; the first is the usual one.
TABLE_CODECS: dict[str, dict[str, tuple[int, int] | None]] = {
    "parquet": {
        "zstd": (1, 22),
        "snappy": None,
        "gzip": (1, 9),
        "brotli": (1, 11),
        "lz4": None,
        "none": None,
    },
    "feather": {"lz4": None, "zstd": (1, 22), "none": None},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """How tables are to be written.

    Attributes
    ----------
    codec
        ``keep`` (the usual one of the format), ``none``, ``zstd:3``, ``snappy``...: `TABLE_CODECS`.
    group_size
        Bytes of the rows that are written together, uncompressed: a row group or record batch.
    awkward_types
        Write the types that awkward has beyond those of Arrow (names of records, tuples) beside the columns,
        so that ``awkward.from_parquet`` gives the same type; other readers leave them aside.
    """

    codec: str = "keep"
    group_size: int = GROUP_SIZE
    awkward_types: bool = True

    def codec_of(self, format: str) -> tuple[str, int | None]:
        """Return the name and the level of the codec for a format, the level None for the usual one.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: the format has no such codec.
        """
        known = TABLE_CODECS[format]
        if self.codec.strip() == "keep":
            return next(iter(known)), None
        name, colon, level = self.codec.strip().partition(":")
        levels = known.get(name)
        if name in known and not colon:
            return name, None
        if levels is not None and re.fullmatch("[0-9]{1,2}", level) and levels[0] <= int(level) <= levels[1]:
            return name, int(level)
        shown = (f"{each}:{most[1]}" if most else each for each, most in known.items())
        message = f"{quoted(self.codec)} is not a codec of {format}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=f"known: keep, {', '.join(shown)}")


def group_size_of(text: str) -> int:
    """Return the bytes that a user wrote: ``64MiB``.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it is no size.
    """
    return Sides.from_text(f"auto:{text}").size
