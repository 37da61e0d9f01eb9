"""Which version of the References specification a document follows, and what is wrong with its top level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from refbrowser.errors import ErrorKind
from refbrowser.limits import LIMITS
from refbrowser.references.text.json_text import JsonError, Node, NodeKind, pointer

_OBJECTS = ("refs", "templates")


@dataclass(frozen=True, slots=True)
class Detected:
    """The version, and whether the member `version` is missing although all else says Version 1."""

    version: int
    version_missing: bool = False


def detect(special: Mapping[str, Node], others: bool) -> Detected:
    """Return the version of a document.

    Parameters
    ----------
    special
        Value of each of `version`, `templates`, `gen` and `refs` that the top level has.
    others
        Whether it has any other member.

    Raises
    ------
    JsonError
        E_SCHEMA: the version is not one that exists; E_BUDGET: there are too many gen rules.
    """
    found = _version(special, others)
    if found.version == 1 and "gen" in special:
        _check_rules(special["gen"])
    return found


def _check_rules(gen: Node) -> None:
    """Refuse more rules than can be compared, or more templates in them than can be parsed."""
    size = 0
    for number, rule in enumerate(gen.items):
        if number >= LIMITS.gen_rules:
            message = f"there are more than {LIMITS.gen_rules} gen rules"
            raise JsonError(rule.start, message, kind=ErrorKind.BUDGET, pointer=pointer("gen", number))
        for member in rule.members:
            if member.value.kind is NodeKind.STRING and "{" in member.value.content:
                size += member.value.stop - member.value.start
            if size > LIMITS.rules_source:
                message = f"the gen rules have more than {LIMITS.rules_source} bytes of templates"
                place = pointer("gen", number, member.key)
                raise JsonError(member.value.start, message, kind=ErrorKind.BUDGET, pointer=place)


def _version(special: Mapping[str, Node], others: bool) -> Detected:
    version = special.get("version")
    looks = _looks_like_version_1(special)
    if version is None:
        missing = looks and not others
        return Detected(1, version_missing=True) if missing else Detected(0)
    if version.kind in (NodeKind.INTEGER, NodeKind.FRACTION) and version.content == 1:
        return Detected(1)
    if version.kind in (NodeKind.STRING, NodeKind.LIST) and not looks:
        return Detected(0)
    what = str(version.content) if version.kind is NodeKind.INTEGER else version.kind.value
    raise JsonError(
        version.start,
        f"the version is {what}, not the number 1",
        'Version 1 documents have the member "version": 1, those of Version 0 have no version.',
        ErrorKind.SCHEMA,
        pointer("version"),
    )


def _looks_like_version_1(special: Mapping[str, Node]) -> bool:
    if any(name in special and special[name].kind is NodeKind.OBJECT for name in _OBJECTS):
        return True
    return "gen" in special and special["gen"].kind is NodeKind.LIST
