"""One call in a schema: its arguments by name, and checks of what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.awkward0.allow_list import AllowList
from refbrowser.formats.awkward0.building_meanings import Bytes
from refbrowser.formats.awkward0.expressions import Expression
from refbrowser.formats.awkward0.layouts import BrokenLayout, Layout, NumpyLayout
from refbrowser.formats.awkward0.lengths import length_of

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
