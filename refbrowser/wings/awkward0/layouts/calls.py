"""The calls of schema expressions: what they may mean, their arguments, and those that make plain arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.nested import Buffer
from refbrowser.wings.awkward0.files.container import Blob
from refbrowser.wings.awkward0.layouts.functions import (
    DECOMPRESSORS,
    AllowList,
    Expression,
    ExpressionKind,
    Verdict,
)
from refbrowser.wings.awkward0.layouts.layouts import BrokenLayout, Layout, NumpyLayout, length_of
from refbrowser.wings.awkward0.layouts.pickles import plain_value
from refbrowser.wings.awkward0.layouts.types import json_type


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


#: Arguments that the old library adds itself (``cacheable``, ``whitelistable``).
_IGNORED = frozenset({"cache", "whitelist"})


def wrong(message: str) -> RefbrowserError:
    """Return the error of something that is not what the serialization text says."""
    return RefbrowserError(ErrorKind.SCHEMA, message)


class Meanings(Protocol):
    """What expressions of one schema mean."""

    allowed: AllowList

    def meaning(self, number: int) -> Any:
        """Return a layout, a plain value, or what `building` makes of other expressions."""
        ...

    def layout(self, number: int) -> Layout:
        """Return the array that an expression is; a broken one where it is none."""
        ...

    def plain(self, number: int) -> Any:
        """Return the plain value that an expression is."""
        ...

    def layouts_in(self, number: int) -> list[Layout]:
        """Return the arrays of a list."""
        ...

    def named_layouts_in(self, number: int) -> list[tuple[str, Layout]]:
        """Return the arrays of pairs or a dict."""
        ...

    def literal(self, value: Any, number: int) -> Layout:
        """Return the array that stands in the schema as plain values."""
        ...

    def called(self, expression: Expression) -> Any:
        """Return what a call means."""
        ...

    def place_of(self, number: int) -> Place:
        """Return where an expression is."""
        ...

    def decoded_size(self, data: Bytes) -> int:
        """Return the bytes that a compressed blob unpacks to."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """One call.

    Attributes
    ----------
    name
        Canonical name of the function.
    numbers
        Expression of each argument that is given.
    extra
        Positional arguments beyond the parameters.
    keywords
        Others that have names.
    """

    meanings: Meanings
    expression: Expression
    name: str
    numbers: Mapping[str, int]
    extra: tuple[int, ...] = ()
    keywords: tuple[tuple[str, int], ...] = ()

    @classmethod
    def bound(cls, meanings: Meanings, expression: Expression, name: str, parameters: Sequence[str]) -> Call:
        """Return a call with its arguments by name.

        Parameters
        ----------
        parameters
            In order; ``*`` and ``**`` at their end take what is left.
        """
        names = [each for each in parameters if not each.startswith("*")]
        numbers = dict(zip(names, expression.children, strict=False))
        extra = expression.children[len(names) :]
        keywords = []
        for key, number in expression.named:
            if key in numbers:
                raise wrong(f"{name} is given {quoted(key)} twice")
            if key in names:
                numbers[key] = number
            elif key not in _IGNORED:
                keywords.append((key, number))
        if extra and "*" not in parameters:
            raise wrong(f"{name} takes {len(names)} arguments, not {len(expression.children)}")
        if keywords and "**" not in parameters:
            raise wrong(f"{name} has no argument {quoted(keywords[0][0])}")
        return cls(meanings, expression, name, numbers, tuple(extra), tuple(keywords))

    @property
    def common(self) -> dict[str, Any]:
        """What all layouts have."""
        return {"number": self.expression.number, "id": self.expression.id, "function": self.name}

    def has(self, parameter: str) -> bool:
        """Tell whether an argument is given."""
        return parameter in self.numbers

    def _number(self, parameter: str) -> int:
        if parameter not in self.numbers:
            raise wrong(f"{self.name} lacks its argument {parameter!r}")
        return self.numbers[parameter]

    def meaning(self, parameter: str) -> Any:
        """Return what an argument means."""
        return self.meanings.meaning(self._number(parameter))

    def layout(self, parameter: str) -> Layout:
        """Return an argument that is an array, or broken."""
        return self.meanings.layout(self._number(parameter))

    def layouts(self, parameter: str) -> list[Layout]:
        """Return an argument that is a list of arrays; none where it is not given."""
        return self.meanings.layouts_in(self.numbers[parameter]) if self.has(parameter) else []

    def named_layouts(self, parameter: str) -> list[tuple[str, Layout]]:
        """Return an argument that is pairs or a dict of arrays."""
        return self.meanings.named_layouts_in(self._number(parameter))

    def basic(self, parameter: str, kinds: str = "iu") -> NumpyLayout:
        """Return an argument that tells where others are: a basic array whose numbers are of some kinds.

        Raises
        ------
        RefbrowserError
            It is none, or broken: then nothing can be made of the whole.
        """
        layout = self.layout(parameter)
        if isinstance(layout, BrokenLayout):
            raise layout.error
        if not isinstance(layout, NumpyLayout):
            raise wrong(f"{parameter!r} of {self.name} is not a basic array")
        base = layout.buffer.dtype.base
        if base.kind not in kinds and layout.buffer.count:
            raise wrong(f"{parameter!r} of {self.name} has numbers of type {base}")
        return layout

    def flat(self, parameter: str, kinds: str = "iu") -> NumpyLayout:
        """Return such an argument of one dimension."""
        layout = self.basic(parameter, kinds)
        if layout.buffer.dtype.ndim:
            raise wrong(f"{parameter!r} of {self.name} has {layout.buffer.dtype.ndim + 1} dimensions")
        return layout

    def plain(self, parameter: str, default: Any) -> Any:
        """Return an argument that is a plain value."""
        return self.meanings.plain(self.numbers[parameter]) if self.has(parameter) else default

    def integer(self, parameter: str, default: int | None = None) -> int:
        """Return an argument that is a whole number."""
        value = self.plain(parameter, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise wrong(f"{parameter!r} of {self.name} is a whole number, not {quoted(value)}")
        return value

    def truth(self, parameter: str, default: bool) -> bool:
        """Return an argument that is true or false."""
        value = self.plain(parameter, default)
        if not isinstance(value, bool | int):
            raise wrong(f"{parameter!r} of {self.name} is true or false, not {quoted(value)}")
        return bool(value)

    def need_length(self, parameter: str, layout: Layout, least: int | None, what: str) -> None:
        """Refuse an array that is known to be shorter than what it belongs to."""
        length = length_of(layout)
        if length is not None and least is not None and length < least:
            raise wrong(f"{parameter!r} of {self.name} has {length} elements, and {what} {least}")


def _bytes(call: Call, parameter: str) -> Bytes:
    meaning = call.meaning(parameter)
    if isinstance(meaning, BrokenLayout):
        raise meaning.error
    if not isinstance(meaning, Bytes):
        raise wrong(f"{parameter!r} of {call.name} is not a blob")
    return meaning


def decompressed(call: Call) -> Bytes:
    """Build a decompressor's call: the codec is named, nothing is decoded."""
    data = _bytes(call, "data")
    if len(data.codecs) >= LIMITS.filters:
        message = f"a blob is compressed more than {LIMITS.filters} times (filters)"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    return Bytes(data.blob, (*data.codecs, DECOMPRESSORS[call.name]))


def from_buffer(call: Call) -> NumpyLayout:
    """Build ``frombuffer(buffer, dtype=float64, count=-1, offset=0)``."""
    data, dtype = _bytes(call, "buffer"), _dtype(call, "dtype", np.dtype(np.float64))
    count, offset = call.integer("count", -1), call.integer("offset", 0)
    if count < -1 or offset < 0:
        raise wrong(f"a basic array has {count} elements from byte {offset}")
    if count > LIMITS.elements:
        raise RefbrowserError(ErrorKind.BUDGET, f"a basic array has {quoted(count)} elements (elements)")
    if count == -1:
        count = _rest(call, data, dtype, offset)
    wanted = offset + count * dtype.itemsize
    if not data.codecs and wanted > data.blob.size:
        message = f"{quoted(data.blob.name)} has {data.blob.size} bytes, and {wanted} are requested"
        raise RefbrowserError(ErrorKind.DECODE, message)
    buffer = Buffer(
        reference=data.blob.reference,
        dtype=dtype,
        count=count,
        codecs=data.codecs,
        offset=offset,
        stored=data.blob.stored,
        name=data.blob.name,
        place=call.meanings.place_of(call.expression.number),
    )
    return NumpyLayout(**call.common, buffer=buffer, blob=data.blob)


def _dtype(call: Call, parameter: str, default: np.dtype[Any]) -> np.dtype[Any]:
    meaning = call.meaning(parameter) if call.has(parameter) else default
    if not isinstance(meaning, np.dtype):
        raise wrong(f"{parameter!r} of {call.name} is not a type")
    return meaning


def _rest(call: Call, data: Bytes, dtype: np.dtype[Any], offset: int) -> int:
    if not dtype.itemsize:
        raise wrong(f"the number of zero-byte elements of {quoted(data.blob.name)} is not given")
    size = call.meanings.decoded_size(data) if data.codecs else data.blob.size
    count, left = divmod(max(size - offset, 0), dtype.itemsize)
    if left:
        message = f"the {size} bytes of {quoted(data.blob.name)} are not a whole number of elements"
        raise RefbrowserError(ErrorKind.DECODE, message)
    return count


def type_from_json(call: Call) -> Any:
    """Build ``json2type``."""
    return json_type(call.plain("obj", None))


def from_pickle(call: Call) -> Any:
    """Build ``topython``, which only a user's list opens: plain values, never unpickled."""
    text = call.plain("string", None)
    if not isinstance(text, str):
        raise wrong("a pickle is text")
    return plain_value(text)
