"""What the headers of a stream said one after the other: bounded, however many there are."""

from __future__ import annotations

from refbrowser.formats.ncstream.definition import StreamDefinition, StreamGroup

#: Parts of all definitions that are kept; they share little but attributes of variables.
_PARTS = 1 << 21
#: Headers whose definitions are kept.
_HEADERS = 4096

Said = tuple[int, StreamDefinition]


def parts_of(definition: StreamDefinition) -> int:
    """Return what a definition consists of, and so what one more header costs: each is looked at again."""
    return _parts(definition.root)


def _parts(group: StreamGroup) -> int:
    variables = sum(1 + len(each.dimensions) for each in group.variables.values())
    below = sum(map(_parts, group.groups.values()))
    return 1 + len(group.dimensions) + len(group.attributes) + variables + below


class HeaderHistory:
    """The numbers of headers, and the definition after each.

    Attributes
    ----------
    headers
        Of those that are kept, in order.
    """

    def __init__(self, headers: tuple[Said, ...] = ()) -> None:
        self.headers: list[Said] = []
        self._parts: list[int] = []
        self._total = 0
        for number, definition in headers:
            self.add(number, definition)

    def __len__(self) -> int:
        return len(self.headers)

    def add(self, number: int, definition: StreamDefinition) -> None:
        """Add what is said after one more header."""
        self.headers.append((number, definition))
        self._parts.append(parts_of(definition))
        self._total += self._parts[-1]

    def cut(self, count: int) -> None:
        """Keep the first `count` of those that are kept."""
        del self.headers[count:]
        del self._parts[count:]
        self._total = sum(self._parts)

    def thin(self) -> None:
        """Forget some of the definitions where they are very many or large, not the first and the last."""
        while len(self) > 2 and (len(self) > _HEADERS or self._total > _PARTS):
            del self.headers[1:-1:2]
            del self._parts[1:-1:2]
            self._total = sum(self._parts)
