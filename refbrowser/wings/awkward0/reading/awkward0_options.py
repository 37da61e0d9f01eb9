"""How a file of Awkward 0 is opened; loaded without what opens it."""

from __future__ import annotations

from dataclasses import dataclass, field

from refbrowser.formats.option_fields import Kind, option


@dataclass(frozen=True, slots=True)
class Awkward0Options:
    """How a file of Awkward 0 is read.

    Attributes
    ----------
    allow_functions
        Patterns of functions that may be applied beside the usual ones, as the serialization text has them
        ("Whitelist specification"), parts joined by ``.``: they open entries of the product's own table,
        never Python.
    """

    allow_functions: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--allow-function PATTERN",
            "let an Awkward 0 file use this built-in function, for example bz2.decompress (repeatable)",
            kind=Kind.TEXTS,
        ),
    )
