"""How files of Awkward 0 are opened."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Awkward0Options:
    """What the user chose.

    Attributes
    ----------
    allow_functions
        Patterns of functions that may be applied beside the usual ones, as the serialization text has them
        ("Whitelist specification"), parts joined by ``.``: they open entries of the product's own table,
        never Python.
    """

    allow_functions: tuple[str, ...] = ()
