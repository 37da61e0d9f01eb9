"""Apply everything that is typed in the editors of a document as one step."""

from __future__ import annotations

from typing import Any

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.drafts import Drafts, drafts_of


def apply_drafts(document: OpenDocument) -> bool:
    """Make one step of the history of all that is typed and not applied.

    Returns whether nothing is left to apply; where an edit cannot be made, `editFailed` tells why, and all of
    them stay as they are.
    """
    from refbrowser.errors import RefbrowserError
    from refbrowser.references.edits import Compound

    drafts = drafts_of(document)
    if drafts.count == 0:
        return True
    try:
        edits = tuple(_edits(drafts))
    except RefbrowserError as error:
        document.editFailed.emit(error)
        return False
    if not document.apply(edits[0] if len(edits) == 1 else Compound("Apply all edits", edits)):
        return False
    drafts.clear()
    return True


def _edits(drafts: Drafts) -> list[Any]:
    from refbrowser.app.editors.metadata_draft import metadata_edit
    from refbrowser.app.editors.reference_editor import reference_edit
    from refbrowser.app.editors.templates_editor import template_edit
    from refbrowser.errors import RefbrowserError
    from refbrowser.references.edits import SetRule

    found: list[Any] = []
    for index, rule in drafts.rules():
        _refuse(f"gen rule {index}", [reason for _number, _column, reason in rule.mistakes()])
        found.append(SetRule(index, rule.fields()))
    found += [template_edit(template) for template in drafts.templates()]
    for key, reference in drafts.references():
        _refuse(f"reference {reference.key}", list(reference.mistakes().values()))
        found.append(reference_edit(key, reference))
    for metadata in drafts.metadata():
        try:
            found.append(metadata_edit(metadata))
        except RefbrowserError as error:
            _refuse(metadata.key, [error.message])
    return found


def _refuse(what: str, mistakes: list[str]) -> None:
    from refbrowser.errors import ErrorKind, RefbrowserError

    if mistakes:
        message = f"the edit of {what} has a mistake: {mistakes[0]}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="Correct it in the editor, or reset it there.")
