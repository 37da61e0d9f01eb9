"""The file that says what is at odds after a merge, with all three values: written by `merge --conflicts`.

It tells enough to settle them later, when the base and theirs are gone, as git's copies are::

    {"merge_conflicts": 1, "document": "doc.json", "path": "doc.json", "base": "...", "ours": "...",
     "theirs": "...", "edits": 2, "conflicts": [{"part": "reference", "name": "a/0", ...}], ...}
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.references.merging.merge import Choice, Conflict, Merged, MergePart
from refbrowser.references.merging.merged_members import ABSENT
from refbrowser.references.merging.merged_rules import ORDER
from refbrowser.references.text.json_text import JsonError, parse

#: The first member of the file, and what it is.
MARK, VERSION = "merge_conflicts", 1
#: Conflicts of one file, and names below a key that one of them goes down.
MOST, DEEPEST = 100_000, 200
_SIDES = tuple(str(choice) for choice in Choice)


@dataclass(frozen=True, slots=True)
class ConflictFile:
    """What such a file says.

    Attributes
    ----------
    path
        The merged document, where ours stands at each conflict; relative to the folder of the file.
    sides
        What was merged, by the name of the side, as it was named then.
    conflicts
        In the order of the merge.
    """

    path: str
    sides: Mapping[str, str]
    conflicts: tuple[Conflict, ...]


def conflict_file_text(
    merged: Merged, document: str, sides: Mapping[str, str], file: str | os.PathLike[str]
) -> str:
    """Return the text of the file of a merge.

    Parameters
    ----------
    document
        The merged document: what messages call it, and its path as seen from here.
    sides
        Paths of what was merged, by `Choice`.
    file
        Where the text goes.
    """
    path = os.path.relpath(os.path.abspath(document), os.path.dirname(os.path.abspath(file)))
    said = {MARK: VERSION, "document": document, "path": path, **sides, **merged.to_json()}
    return json.dumps(said, indent=1)


def parse_conflict_file(data: bytes) -> ConflictFile:
    """Return what a file says.

    Raises
    ------
    RefbrowserError
        `E_JSON`, `E_SCHEMA`: it is none; `E_BUDGET`: it says too much.
    """
    try:
        said = parse(data).to_python()
    except JsonError as error:
        raise RefbrowserError(ErrorKind.JSON, f"it is not JSON:  {error}") from None
    if not isinstance(said, dict) or MARK not in said:
        _refuse("it does not list the conflicts of a merge")
    if said[MARK] != VERSION:
        _refuse(f"it is of version {quoted(said[MARK])}, known is {VERSION}")
    path, listed = said.get("path"), said.get("conflicts")
    if not isinstance(path, str) or not path:
        _refuse("it does not say which document was merged (path)")
    if not isinstance(listed, list):
        _refuse("its conflicts are not a list")
    if len(listed) > MOST:
        raise RefbrowserError(ErrorKind.BUDGET, f"it lists {len(listed)} conflicts, more than {MOST}")
    sides = {side: said[side] for side in _SIDES if isinstance(said.get(side), str)}
    return ConflictFile(path, sides, tuple(map(_conflict, listed)))


def _conflict(said: Any) -> Conflict:
    if not isinstance(said, dict):
        _refuse("one of its conflicts is not an object")
    name, path, version = said.get("name"), said.get("path"), said.get("version")
    if said.get("part") not in list(MergePart):
        _refuse(f"there are no conflicts about a {quoted(said.get('part'))}")
    part = MergePart(said["part"])
    if not isinstance(name, str) or (part is MergePart.RULE and not (name.isascii() and name.isdecimal())):
        _refuse(f"a conflict about a {part} has the name {quoted(name)}")
    if not isinstance(path, list) or len(path) > DEEPEST or not all(isinstance(each, str) for each in path):
        _refuse(f"the path of a conflict of {quoted(name)} is not a list of names")
    if version not in (0, 1):
        _refuse(f"the conflict of {quoted(name)} is of a document of version {quoted(version)}")
    base, ours, theirs = (said.get(side, ABSENT) for side in _SIDES)
    for value in (base, ours, theirs):
        if part is MergePart.TEMPLATE and not (value is ABSENT or isinstance(value, str)):
            _refuse(f"the template {quoted(name)} is not text on one side")
        if part is MergePart.RULE and path == [ORDER] and not _is_texts(value):
            _refuse("an order of gen rules is not a list of texts on one side")
    return Conflict(part, name, tuple(path), base, ours, theirs, version)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _refuse(why: str) -> NoReturn:
    raise RefbrowserError(ErrorKind.SCHEMA, why)
