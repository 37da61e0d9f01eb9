"""What a byte in the text of a document belongs to, and where nodes, rules, templates and keys stand."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from refbrowser.errors import Place
from refbrowser.model.nodes import Hierarchy
from refbrowser.references.content.content import ReferenceText
from refbrowser.references.content.finding_places import Positions, position_of
from refbrowser.references.text.json_text import Node, pointer


class PlaceKind(StrEnum):
    """What stands at a place."""

    KEY = "key"
    RULE = "rule"
    TEMPLATE = "template"
    TOP = "document"


@dataclass(frozen=True, slots=True)
class TextPlace:
    """What stands at a byte: an entry of `refs`, a rule, a template, or another member of the top level.

    Attributes
    ----------
    name
        The key, the name of the template, or that of the member; empty outside of all.
    number
        Of a rule.
    """

    kind: PlaceKind
    name: str = ""
    number: int = 0

    @property
    def words(self) -> str:
        """It in few words."""
        if self.kind is PlaceKind.RULE:
            return f"gen rule {self.number}"
        if self.kind is PlaceKind.TEMPLATE:
            return f"template {self.name}"
        return self.name


def place_at(document: ReferenceText, positions: Positions, position: int) -> TextPlace:
    """Return what stands at a byte of a document."""
    at = positions.outer_at(position)
    if at is None:
        slot = positions.entry_at(position)
        return (
            TextPlace(PlaceKind.TOP, "refs")
            if slot is None
            else TextPlace(PlaceKind.KEY, document.refs.key_of(slot))
        )
    for member in document.node.members:
        if not member.start <= at < member.value.stop:
            continue
        if document.version == 1 and member.key == "gen":
            number = _item_at(member.value, at)
            return (
                TextPlace(PlaceKind.TOP, "gen")
                if number is None
                else TextPlace(PlaceKind.RULE, number=number)
            )
        if document.version == 1 and member.key == "templates":
            name = next(
                (each.key for each in member.value.members if each.start <= at < each.value.stop), None
            )
            return (
                TextPlace(PlaceKind.TOP, "templates") if name is None else TextPlace(PlaceKind.TEMPLATE, name)
            )
        return TextPlace(PlaceKind.TOP, member.key)
    return TextPlace(PlaceKind.TOP)


def _item_at(node: Node, position: int) -> int | None:
    return next(
        (number for number, item in enumerate(node.items) if item.start <= position < item.stop), None
    )


def key_position(document: ReferenceText, positions: Positions, key: str) -> int | None:
    """Return the byte at which the entry of a key stands; None where it has none, as what a rule gives."""
    return position_of(document, positions, Place(key=key))


def rule_position(document: ReferenceText, positions: Positions, number: int) -> int | None:
    """Return the byte at which a gen rule stands."""
    if not 0 <= number < len(document.rule_nodes):
        return None
    return positions.outer(document.rule_nodes[number].start)


def template_position(document: ReferenceText, positions: Positions, name: str) -> int | None:
    """Return the byte at which a template stands."""
    node = document.node.member("templates")
    members = () if node is None else node.members
    return next((positions.outer(member.start) for member in members if member.key == name), None)


def member_position(document: ReferenceText, positions: Positions, name: str) -> int | None:
    """Return the byte at which a member of the top level stands."""
    found = [member.start for member in document.node.members if member.key == name]
    return positions.outer(found[-1]) if found else position_of(document, positions, Place(pointer=pointer()))


def node_position(
    document: ReferenceText, positions: Positions, hierarchy: Hierarchy, path: str
) -> int | None:
    """Return the byte at which a group or array stands: its metadata, else its first entry or rule."""
    node = hierarchy.find(path)
    if node is None:
        return None
    for key in getattr(node, "metadata_keys", ()):
        position = key_position(document, positions, key)
        if position is not None:
            return position
    folder = f"{path.strip('/')}/".lstrip("/")
    number = next(
        (number for number, rule in enumerate(document.rules) if (rule.key or "").startswith(folder)), None
    )
    return None if number is None else rule_position(document, positions, number)
