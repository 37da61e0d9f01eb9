"""One array made by hand, with the values and the type that it stands for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from awkward0_encoder import Encoder, Expression


@dataclass(frozen=True)
class Construct:
    """An array made by hand.

    Attributes
    ----------
    name
        Of the test.
    make
        Makes the root expression.
    values
        All rows, as Python values; a plain value where the root is one.
    type
        Of one row or plain value as Awkward 2 writes it.
    is_old
        Whether awkward0 reads the same values (else it fails, or is known to be wrong).
    options
        Of the encoder.
    """

    name: str
    make: Callable[[Encoder], Expression]
    values: Any
    type: str
    is_old: bool = True
    options: tuple[tuple[str, str], ...] = ()

    def encoder(self, name: str = "", **more: Any) -> Encoder:
        """Return an encoder with the options of this construct."""
        return Encoder(name, **{**dict(self.options), **more})


class Constructs(list[Construct]):
    """Several, each added by its parts."""

    def add(
        self, name: str, type: str, values: Any, make: Callable[[Encoder], Expression], **more: Any
    ) -> None:
        """Note one more."""
        self.append(Construct(name, make, values, type, **more))
