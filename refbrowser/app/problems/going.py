"""From a problem to its place: the row of the tree, the rule and its field, the template, key, or line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.app.centre import RAW, REFERENCES
from refbrowser.app.hierarchy.hierarchy_model import ItemKind

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.main_window import MainWindow
    from refbrowser.engine.problems.problem import Problem


def go_to_problem(window: MainWindow, document: OpenDocument, problem: Problem) -> None:
    """Show the place of a problem in the panes that it belongs to; the keyboard stays where it is."""
    window.documents.set_current(document)
    place, (kind, name) = problem.place, problem.spot
    if kind == ItemKind.RULE:
        _select(window, document, kind, name)
        window.docks.raise_("editorDock")
        window.editors.show_rule_place(place.field, place.row)
    elif kind == ItemKind.TEMPLATE:
        _select(window, document, kind, name)
        window.docks.raise_("editorDock")
    elif place.key is not None and document.is_open:
        window.centre.tabs.setCurrentIndex(REFERENCES)
        window.centre.references.go_to_key(place.key, focus=False)
    elif kind in (ItemKind.ARRAY, ItemKind.GROUP):
        window.hierarchy.select_node(document, str(name))
    else:
        _select(window, document, ItemKind.DOCUMENT, "")
        if problem.line is not None and place.column is not None and document.is_open:
            window.centre.tabs.setCurrentIndex(RAW)
            window.centre.raw.set_place(document, problem.line, place.column)


def _select(window: MainWindow, document: OpenDocument, kind: str, name: str | int) -> None:
    window.hierarchy.select_index(window.hierarchy.model.find_identity((document.number, kind, name)))
