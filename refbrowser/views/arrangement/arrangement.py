"""How views are arranged: as tabs, side by side and in windows of their own; a value that JSON can hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS


class Side(StrEnum):
    """Where a view is put: beside another one, or in its place as a further tab."""

    TAB = "tab"
    LEFT = "left"
    RIGHT = "right"
    ABOVE = "above"
    BELOW = "below"

    @property
    def is_across(self) -> bool:
        """Whether the two lie beside each other, not one below the other."""
        return self in (Side.LEFT, Side.RIGHT)

    @property
    def is_first(self) -> bool:
        """Whether it is put before the other one."""
        return self in (Side.LEFT, Side.ABOVE)


@dataclass(frozen=True, slots=True)
class Tabs:
    """Views of which one is in front.

    Attributes
    ----------
    views
        Their numbers, in the order of the tabs.
    front
        The number of the view in front.
    """

    views: tuple[int, ...]
    front: int


@dataclass(frozen=True, slots=True)
class Split:
    """Parts of the window beside each other (`is_across`), or one below the other.

    Attributes
    ----------
    shares
        What each part has of the room, as positive numbers; only their ratios count.
    """

    is_across: bool
    parts: tuple[Tabs | Split, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Apart:
    """Views in a window of their own.

    Attributes
    ----------
    place
        Left, top, width and height on the screen, in pixels.
    """

    tabs: Tabs
    place: tuple[int, int, int, int]


#: The deepest nesting of splits that is read: more than any screen has room for.
_DEEPEST: Final = 16
#: The least share of a part that is read.
_LEAST: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Arrangement:
    """All views of a window.

    Attributes
    ----------
    root
        What is in the main window.
    apart
        What is in windows of their own.
    active
        The number of the view that commands act on.
    linked
        Names of what is linked, of `linking.Link`.
    crossing
        The numbers of three views that show orthogonal slices with crossing lines; empty for none.
    """

    root: Tabs | Split
    apart: tuple[Apart, ...] = ()
    active: int = 0
    linked: frozenset[str] = frozenset()
    crossing: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """How many views there are; their numbers are those below it."""
        return sum(1 for _ in _views(self))

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        return {
            "root": _node_json(self.root),
            "apart": [{"tabs": _node_json(each.tabs), "place": list(each.place)} for each in self.apart],
            "active": self.active,
            "linked": sorted(self.linked),
            "crossing": list(self.crossing),
        }

    @classmethod
    def from_json(cls, found: object) -> Arrangement:
        """Return what `as_json` made.

        Raises
        ------
        RefbrowserError
            It is nothing that `as_json` makes, or there are more views than `LIMITS.views`.
        """
        held = _mapping(found)
        apart = tuple(_apart(each) for each in _list(held.get("apart", [])))
        linked = frozenset(str(name) for name in _list(held.get("linked", [])))
        crossing = tuple(_number(each) for each in _list(held.get("crossing", [])))
        made = cls(_node(held.get("root"), 0), apart, _number(held.get("active", 0)), linked, crossing)
        numbers = sorted(_views(made))
        if numbers != list(range(len(numbers))) or len(numbers) > LIMITS.views:
            raise _wrong("views are numbered from 0, each once")
        if made.active >= len(numbers) or not set(crossing) <= set(numbers) or len(crossing) not in (0, 3):
            raise _wrong("there is no such view")
        return made


def _views(arrangement: Arrangement) -> Iterator[int]:
    yield from _views_of(arrangement.root)
    for each in arrangement.apart:
        yield from each.tabs.views


def _views_of(node: Tabs | Split) -> Iterator[int]:
    if isinstance(node, Tabs):
        yield from node.views
    else:
        for part in node.parts:
            yield from _views_of(part)


def _node_json(node: Tabs | Split) -> dict[str, Any]:
    if isinstance(node, Tabs):
        return {"tabs": list(node.views), "front": node.front}
    parts = [_node_json(part) for part in node.parts]
    return {"split": "across" if node.is_across else "down", "parts": parts, "shares": list(node.shares)}


def _node(found: object, depth: int) -> Tabs | Split:
    held = _mapping(found)
    if depth > _DEEPEST:
        raise _wrong("it is nested too deeply")
    if "tabs" in held:
        return _tabs(held)
    parts = tuple(_node(part, depth + 1) for part in _list(held.get("parts")))
    shares = tuple(_share(each) for each in _list(held.get("shares")))
    if len(parts) < 2 or len(parts) != len(shares) or held.get("split") not in ("across", "down"):
        raise _wrong("a split has two parts or more, and a share for each")
    return Split(held["split"] == "across", parts, shares)


def _tabs(held: Mapping[str, Any]) -> Tabs:
    views = tuple(_number(each) for each in _list(held.get("tabs")))
    front = _number(held.get("front"))
    if front not in views:
        raise _wrong("the view in front is not among the tabs")
    return Tabs(views, front)


def _apart(found: object) -> Apart:
    held = _mapping(found)
    place = tuple(_whole(each) for each in _list(held.get("place")))
    if len(place) != 4:
        raise _wrong("a window has a left, a top, a width and a height")
    return Apart(_tabs(_mapping(held.get("tabs"))), (place[0], place[1], place[2], place[3]))


def _mapping(found: object) -> Mapping[str, Any]:
    if not isinstance(found, Mapping):
        raise _wrong("an object is missing")
    return found


def _list(found: object) -> Sequence[Any]:
    if not isinstance(found, list) or len(found) > LIMITS.views:
        raise _wrong("a list is missing, or too long")
    return found


def _whole(found: object) -> int:
    if not isinstance(found, int) or isinstance(found, bool) or abs(found) > 1 << 20:
        raise _wrong("a whole number is missing, or too large")
    return found


def _number(found: object) -> int:
    number = _whole(found)
    if number < 0:
        raise _wrong("a number of a view is below zero")
    return number


def _share(found: object) -> float:
    # Of what is nearer to zero, or farther away, sums are not to be relied on.
    if not isinstance(found, int | float) or isinstance(found, bool) or not _LEAST <= found <= 1 / _LEAST:
        raise _wrong("a share is a number above zero")
    return float(found)


def _wrong(why: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.SCHEMA, f"this is no arrangement of views: {why}")
