"""What an editor knows of a text beside its characters: names in it, faults, and its units in Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from refbrowser.errors import RefbrowserError

if TYPE_CHECKING:
    from refbrowser.references.templates.templates import TemplateSet


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """Dimensions and templates; in the text of a template itself any name is an argument (`any_name`)."""

    dimensions: tuple[str, ...] = ()
    templates: TemplateSet | None = None
    any_name: bool = False

    def same(self, other: Names) -> bool:
        """Whether another value names the same."""
        return (
            self.dimensions == other.dimensions
            and self.templates is other.templates
            and self.any_name == other.any_name
        )

    def has_template(self, name: str) -> bool:
        """Whether there is a template of this name."""
        return self.templates is not None and name in self.templates.texts


def utf16_offsets(text: str) -> Callable[[int], int]:
    """Return what turns a number of characters of `text` into a number of UTF-16 units."""
    if text.isascii() or max(text) <= "\uffff":
        return lambda position: position
    return lambda position: position + sum(character > "\uffff" for character in text[:position])


def character_offset(text: str, units: int) -> int:
    """Return how many characters of `text` its first `units` UTF-16 units are."""
    if text.isascii():
        return units
    position = 0
    while units > 0 and position < len(text):
        units -= 2 if text[position] > "\uffff" else 1
        position += 1
    return position


@dataclass(frozen=True, slots=True)
class FaultSpan:
    """A part of the text that is wrong: characters `start` to `stop`, counted from 0."""

    start: int
    stop: int


def fault_spans(errors: Iterable[RefbrowserError], text: str) -> list[FaultSpan]:
    """Return where in a text the errors are; one that does not say is about all of it."""
    return [FaultSpan(*(error.place.span or (0, len(text)))) for error in errors]
