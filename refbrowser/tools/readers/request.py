"""What is asked of readers: which arrays, which readers, and whether installed ones are tried."""

from __future__ import annotations

from dataclasses import dataclass, field

from refbrowser.formats.option_fields import Kind, documented, option


@documented
@dataclass(frozen=True, slots=True)
class ReadersRequest:
    """Which readers are asked about which arrays."""

    arrays: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--array ARRAY",
            "this array only (repeatable)",
            about="Paths of arrays; all where it is empty.",
            kind=Kind.TEXTS,
            title="Arrays",
        ),
    )
    readers: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--for NAME[=VERSION]",
            "this reader only, of this version or the newest one known (repeatable): exit code 2 if it "
            "cannot read something",
            about="Readers, each a name or ``NAME=VERSION``; all that are known where it is empty.",
            kind=Kind.TEXTS,
            title="Readers",
        ),
    )
    tries: bool = field(
        default=False,
        metadata=option(
            "--try",
            "run the readers that are installed here on a sample of the data, and compare the values",
            about="Run the readers that are installed on a sample of the data, and compare the values.",
            kind=Kind.TICK,
            means=True,
            title="Try the installed ones",
        ),
    )
