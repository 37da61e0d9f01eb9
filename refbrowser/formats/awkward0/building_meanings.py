"""What expressions mean that are neither arrays nor plain values: they are arguments of calls."""

from __future__ import annotations

from dataclasses import dataclass

from refbrowser.formats.awkward0.container import Blob
from refbrowser.formats.awkward0.expressions import ExpressionKind
from refbrowser.formats.awkward0.functions import Verdict


@dataclass(frozen=True, slots=True)
class Bytes:
    """A blob, and what decodes it, in the order of decoding."""

    blob: Blob
    codecs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Items:
    """A list, tuple, dict or pairs of expressions."""

    kind: ExpressionKind
    numbers: tuple[int, ...]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FunctionName:
    """A function that is an argument; it is named only."""

    specification: tuple[str, ...]
    verdict: Verdict

    def __str__(self) -> str:
        return ".".join(self.specification)
