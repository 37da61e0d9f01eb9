"""All that one window shows, as a value that JSON holds: documents, plots, docks. Users say *session*."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from refbrowser.limits import LIMITS
from refbrowser.views.plot_states.json_fields import (
    JsonValue,
    choice_of,
    is_on,
    json_field,
    many_of,
    maybe,
    named,
    text_of,
)
from refbrowser.views.plot_states.plot_state import PlotState

#: Documents, sets, paths of one set, plots and docks that are read at most.
DOCUMENTS, SETS, SET_PATHS, PLOTS, DOCKS = 1_000, 200, 100_000, 64, 64
#: Groups of one document that are expanded at most.
EXPANDED = 1_000
#: Where a dock can be.
AREAS = ("left", "right", "top", "bottom", "floating")
_LABELS = 64
_path, _name = text_of(LIMITS.url_length), text_of(200)


def _size(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= 100_000:
        raise ValueError("a number of pixels is expected")
    return value


@dataclass(frozen=True)
class DocumentState(JsonValue):
    """One document that is open.

    Attributes
    ----------
    path
        Of the document, or of the one that `expression` is about.
    expression, documents
        As those of a `PlotState`.
    options
        How it is read where that is not found out, by the names of options of opening.
    selected
        Path of the group or array that is selected in it; empty where none is.
    long_name
        Of what `expression` computes; empty for the expression itself.
    expanded
        Paths of the groups whose members are seen in the tree.
    """

    NOUN = "a document"

    path: str = json_field(_path)
    expression: str = json_field(text_of(65_536), "")
    documents: Mapping[str, str] = json_field(named(_path, _LABELS), {}, "with")
    options: Mapping[str, str] = json_field(named(_name, 16), {})
    selected: str = json_field(text_of(LIMITS.key_length), "")
    long_name: str = json_field(text_of(65_536), "")
    expanded: tuple[str, ...] = json_field(many_of(text_of(LIMITS.key_length), EXPANDED), ())


@dataclass(frozen=True)
class DockState(JsonValue):
    """Where one dock is.

    Attributes
    ----------
    name
        Its object name.
    area
        One of `AREAS`.
    behind
        The dock that it has its tab beside; empty where it is the first in its place.
    is_shown, is_front
        Whether it is not hidden, and in front of those that it shares its place with.
    width, height
        In device independent pixels; 0 where it is not seen.
    """

    NOUN = "a dock"

    name: str = json_field(_name)
    area: str = json_field(choice_of(*AREAS), "bottom")
    behind: str = json_field(_name, "")
    is_shown: bool = json_field(is_on, True)
    is_front: bool = json_field(is_on, False)
    width: int = json_field(_size, 0)
    height: int = json_field(_size, 0)


def _paths(value: Any) -> tuple[str, ...]:
    paths = many_of(_path, SET_PATHS)(value)
    if not paths:
        raise ValueError("at least one path is expected")
    return paths


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("an object is expected")
    return value


@dataclass(frozen=True)
class WindowState(JsonValue):
    """What one window shows.

    Attributes
    ----------
    documents
        In the order of the tree.
    current
        The number of the one that is shown, among `documents`; -1 for none.
    sets
        Files that were opened together and are one row of the tree, by their paths.
    plots
        What plots show, in the order in which `arrangement` numbers them; None for one that shows nothing.
    arrangement
        How plots are arranged, as JSON has it; empty for one alone.
    tab
        The tab over the plots that is in front, by its title; empty for that of plots.
    docks
        The docks, from left to right and from the top down.
    is_bottom_folded
        Whether nothing but the tabs is seen of those at the bottom.
    width, height
        Of the window where it is not maximised, in device independent pixels; 0 where that is not known.
    is_maximised
        Whether it fills the screen.
    """

    NOUN = "a session"

    documents: tuple[DocumentState, ...] = json_field(many_of(DocumentState.from_json, DOCUMENTS), ())
    current: int = json_field(lambda value: _number(value), -1)
    sets: tuple[tuple[str, ...], ...] = json_field(many_of(_paths, SETS), ())
    plots: tuple[PlotState | None, ...] = json_field(many_of(maybe(PlotState.from_json), PLOTS), ())
    arrangement: Mapping[str, Any] = json_field(_object, {})
    tab: str = json_field(_name, "")
    docks: tuple[DockState, ...] = json_field(many_of(DockState.from_json, DOCKS), ())
    is_bottom_folded: bool = json_field(is_on, False)
    width: int = json_field(_size, 0)
    height: int = json_field(_size, 0)
    is_maximised: bool = json_field(is_on, False)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is open."""
        return not self.documents and not self.sets

    def paths(self) -> Iterator[str]:
        """Yield all paths that it names, one more than once."""
        named: tuple[DocumentState | PlotState, ...] = (*self.documents, *filter(None, self.plots))
        for each in named:
            yield each.path
            yield from each.documents.values()
        for paths in self.sets:
            yield from paths

    def moved(self, move: Callable[[str], str]) -> WindowState:
        """Return it with other paths."""

        def labelled(documents: Mapping[str, str]) -> dict[str, str]:
            return {label: move(path) for label, path in documents.items()}

        documents = tuple(
            replace(each, path=move(each.path), documents=labelled(each.documents)) for each in self.documents
        )
        plots = tuple(
            each and replace(each, path=move(each.path), documents=labelled(each.documents))
            for each in self.plots
        )
        sets = tuple(tuple(map(move, paths)) for paths in self.sets)
        return replace(self, documents=documents, plots=plots, sets=sets)


def _number(value: Any) -> int:
    if type(value) is not int or not -1 <= value < DOCUMENTS:
        raise ValueError("the number of a document is expected")
    return value
