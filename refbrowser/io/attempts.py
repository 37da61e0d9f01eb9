"""What was asked for while bytes were read, and what came back: told to whoever wants to explain a read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

#: Header fields of an answer that tell about the bytes; others, which may be secrets, are not passed on.
TELLING_FIELDS = (
    "content-range",
    "content-length",
    "content-type",
    "content-encoding",
    "accept-ranges",
    "last-modified",
    "etag",
    "server",
    "date",
    "retry-after",
    "location",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try to read bytes of an object.

    Attributes
    ----------
    url
        Where it was sent, canonical.
    start, stop
        The bytes that were asked for; `stop` None: the whole object.
    answer
        The status line of a server, or what the file is; empty where nothing answered.
    fields
        Those of `TELLING_FIELDS` that the answer has.
    received
        Bytes that came.
    error
        Why it failed; empty where it did not.
    wait
        Seconds until the next try; None where there is none.
    seconds
        From the question to the end of the answer.
    """

    url: str
    start: int = 0
    stop: int | None = None
    answer: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    received: int = 0
    error: str = ""
    wait: float | None = None
    seconds: float = 0.0


#: Called with each try when it has ended, on the thread that reads.
Witness = Callable[[Attempt], None]


def telling(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the header fields that are passed on."""
    return {name: fields[name] for name in TELLING_FIELDS if name in fields}
