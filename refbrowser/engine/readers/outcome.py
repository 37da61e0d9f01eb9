"""What a reader makes of an array: the verdict, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ReaderVerdict(StrEnum):
    """What becomes of an array in a reader.

    Attributes
    ----------
    DECODES
        Its values are read, and are those that are stored.
    OPENS
        It is listed with its metadata, and reading its values is an error.
    REFUSES
        It cannot be opened, or the dataset cannot.
    WRONG
        Other values are read, and nothing says so.
    UNKNOWN
        Nobody has tried, and no documentation tells.
    """

    DECODES = "decodes"
    OPENS = "opens"
    REFUSES = "refuses"
    WRONG = "wrong"
    UNKNOWN = "unknown"

    @property
    def reads(self) -> bool | None:
        """Whether values are read as they are stored; None where it is not known."""
        return None if self is ReaderVerdict.UNKNOWN else self is ReaderVerdict.DECODES


@dataclass(frozen=True, slots=True)
class Trial:
    """What an installed reader made of an array when it was tried.

    Attributes
    ----------
    reader
        Name of the reader, as the rules have it: ``zarr-python``.
    version
        Of the reader that was tried.
    array
        Absolute path of the array.
    verdict
        What became of it.
    reason
        What the reader said, or where its values differ; empty where it decodes.
    """

    reader: str
    version: str
    array: str
    verdict: ReaderVerdict
    reason: str = ""
