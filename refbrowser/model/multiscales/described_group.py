"""A group whose attributes describe levels: finding them, and noting what is wrong with the description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from refbrowser.errors import Place, quoted
from refbrowser.findings.finding import Finding, FindingKind
from refbrowser.findings.kinds import LEVEL_MISSING, LEVEL_SHAPES, LEVEL_TRANSFORM, MULTISCALES_WRONG
from refbrowser.limits import LIMITS
from refbrowser.model.multiscales.multiscale import Level
from refbrowser.model.nodes import ArrayNode, GroupNode, Node

#: Numbers beyond this are none that anything is measured in.
_LARGEST = 1e100
#: Characters of a name from the metadata that are kept.
NAME_LENGTH = 200


class DescribedGroup:
    """A group, or an array, and what is found out about its description.

    Attributes
    ----------
    findings
        What is wrong with it.
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self.findings: list[Finding] = []

    @property
    def attributes(self) -> Mapping[str, Any]:
        """Its attributes."""
        return self.node.attributes

    def note(self, kind: FindingKind, message: str, attribute: str) -> None:
        """Note what is wrong with something in one of its attributes."""
        keys = self.node.metadata_keys
        place = Place(key=keys[-1] if keys else None, path=self.node.path, attribute=attribute)
        self.findings.append(kind.finding(message, place))

    def wrong(self, message: str, attribute: str) -> None:
        """Note that a member of its description is not what the convention says."""
        self.note(MULTISCALES_WRONG, message, attribute)

    def listed(self, written: Any, attribute: str, what: str) -> list[Any]:
        """Return the members of a list in an attribute; of too many, and of what is no list, it is noted."""
        if not isinstance(written, list) or not written:
            self.wrong(f"{what} is not a list with members", attribute)
            return []
        most = LIMITS.multiscale_levels
        if len(written) > most:
            self.wrong(f"{what} has {len(written):,} members; only {most} are used", attribute)
        return written[:most]

    def find(self, path: Any, attribute: str, where: str) -> Node | None:
        """Return the group or array that a relative path leads to; noted where there is none."""
        if not isinstance(path, str) or not path or len(path) > LIMITS.key_length:
            self.wrong(f"{where} is not the path of a group or array", attribute)
            return None
        node: Node | None = self.node
        for part in path.split("/"):
            if part in ("", "."):
                continue
            node = _child(node, part)
        if node is None or node is self.node:
            self.note(LEVEL_MISSING, f"{where} is {quoted(path)}, where there is nothing", attribute)
            return None
        return node

    def numbers(self, written: Any, count: int, attribute: str, where: str) -> list[float] | None:
        """Return as many finite numbers as there are to be; noted where they are something else."""
        if isinstance(written, list) and len(written) == count and all(map(_is_number, written)):
            return [float(each) for each in written]
        has = f"has {len(written)}" if isinstance(written, list) and len(written) != count else None
        message = f"{where} {has or f'is {quoted(written)}'}, not {count} finite numbers"
        self.note(LEVEL_TRANSFORM, message, attribute)
        return None

    def steps(self, written: Any, count: int, attribute: str, where: str) -> list[float] | None:
        """Return factors of a scale, which are not 0; noted where they are something else."""
        found = self.numbers(written, count, attribute, where)
        if found is not None and not all(found):
            self.note(LEVEL_TRANSFORM, f"{where} has a factor of 0", attribute)
            return None
        return found

    def alike(self, levels: Sequence[Level], attribute: str) -> list[Level]:
        """Return the levels that have as many dimensions as the first; of the others it is noted."""
        first = levels[0].node
        kept = [level for level in levels if len(level.node.shape) == len(first.shape)]
        for level in levels:
            if level not in kept:
                message = f"{level.node.path} has {len(level.node.shape)} dimensions"
                self.note(LEVEL_SHAPES, f"{message}, {first.path} {len(first.shape)}", attribute)
        return kept

    def note_growth(self, before: ArrayNode, node: ArrayNode, attribute: str) -> None:
        """Note it where a level is not smaller than another that is finer."""
        grows = any(now > then for now, then in zip(node.shape, before.shape, strict=True))
        if grows or node.shape == before.shape:
            message = f"{node.path} has the shape {_shape_text(node.shape)}"
            finer = f"the finer {before.path} {_shape_text(before.shape)}"
            self.note(LEVEL_SHAPES, f"{message}, {finer}", attribute)


def _child(node: Node | None, name: str) -> Node | None:
    if not isinstance(node, GroupNode):
        return None
    return node.arrays.get(name) or node.groups.get(name)


def _is_number(value: Any) -> bool:
    # Compared, not converted: an integer may have any number of digits.
    return isinstance(value, int | float) and not isinstance(value, bool) and -_LARGEST < value < _LARGEST


def _shape_text(shape: Sequence[int]) -> str:
    return " × ".join(map(str, shape))


def is_image(node: Node) -> bool:
    """Whether a node is an array of numbers, of two dimensions or more."""
    if not isinstance(node, ArrayNode) or len(node.shape) < 2 or node.dtype is None or node.error is not None:
        return False
    return node.dtype.kind in "biufc"


def text_in(attributes: Mapping[str, Any], name: str) -> str:
    """Return a text of the metadata, cut where it is very long; empty where it is none."""
    value = attributes.get(name)
    return value.strip()[:NAME_LENGTH] if isinstance(value, str) else ""
