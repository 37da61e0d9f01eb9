"""From a problem, or typing that is not valid, to its place: row of the tree, rule, template, key or line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.app.shell.centre import RAW, REFERENCES
from refbrowser.views.hierarchy import ItemKind

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.editors.typed import Typed
    from refbrowser.app.shell.main_window import MainWindow
    from refbrowser.engine.problems.problem import Problem
    from refbrowser.errors import Place


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


def go_to_typed(window: MainWindow, document: OpenDocument, typed: Typed, place: Place) -> None:
    """Bring what is typed to the front, with the keyboard in its field, where it is wrong."""
    from refbrowser.app.editors.typed import DraftKind

    window.documents.set_current(document)
    kind, at = typed.kind, typed.at
    if kind is DraftKind.KEY:
        window.centre.show_tab(REFERENCES)
        window.centre.references.show_typed_key(at)
    elif kind is DraftKind.ATTRIBUTE:
        window.hierarchy.select_node(document, at[0])
        window.docks.raise_("attributesDock")
        window.attributes.go_on_typing(typed, place)
    elif kind is DraftKind.METADATA:
        node = _node_of_metadata(document, at)
        if node is not None:
            window.hierarchy.select_node(document, node)
        window.docks.raise_("attributesDock")
        window.attributes.go_on_typing(typed, place)
    else:
        if kind is DraftKind.RULE:
            _select(window, document, ItemKind.RULE, at)
        elif kind is DraftKind.TEMPLATE:
            _select(window, document, ItemKind.TEMPLATE, at)
        window.docks.raise_("editorDock")
        window.editors.show_typed(document, typed, place)


def _node_of_metadata(document: OpenDocument, key: str) -> str | None:
    """Return the path of the group or array that a metadata document belongs to."""
    hierarchy = document.hierarchy
    found = () if hierarchy is None else hierarchy.walk()
    folder = f"/{key.rpartition('/')[0]}"
    exact = next((node.path for node in found if key in node.metadata_keys), None)
    return folder if exact is None and hierarchy is not None and hierarchy.find(folder) is not None else exact


def _select(window: MainWindow, document: OpenDocument, kind: str, name: str | int) -> None:
    window.hierarchy.select_index(window.hierarchy.model.find_identity((document.number, kind, name)))
