"""What a window shows, told as a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from refbrowser.app.window_states.dock_states import dock_states
from refbrowser.views.hierarchy import ItemKind
from refbrowser.views.window_states.window_state import DocumentState, WindowState

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMainWindow

    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.workspace.workspace import Workspace

#: Options of opening that are told: how something is read, and nothing that lets read.
OPTIONS = ("flavour", "byte_order")


def window_state(workspace: Workspace) -> WindowState:
    """Return what a window shows; documents that are in no file, and not computed, are left out."""
    told = [(document, _document_state(workspace, document)) for document in workspace.documents.all()]
    kept = [(document, state) for document, state in told if state is not None]
    current = workspace.documents.current
    centre = workspace.centre
    window = cast("QMainWindow", workspace.window())
    # Of a maximised one, the size that it goes back to.
    size = window.normalGeometry().size() if window.isMaximized() else window.size()
    arrangement = {} if centre.views is None else centre.views.arrangement_state().as_json()
    return WindowState(
        documents=tuple(state for _document, state in kept),
        current=next((at for at, (document, _state) in enumerate(kept) if document is current), -1),
        sets=tuple(files.paths for files in workspace.documents.sets),
        plots=tuple(plot.state() for plot in centre.plots()),
        arrangement=arrangement,
        tab=centre.tabs.tabText(centre.tabs.currentIndex()),
        docks=dock_states(window, workspace.docks),
        is_bottom_folded=workspace.docks.is_folded,
        width=size.width(),
        height=size.height(),
        is_maximised=window.isMaximized(),
    )


def _document_state(workspace: Workspace, document: OpenDocument) -> DocumentState | None:
    selected = _selected(workspace, document)
    if not document.is_new:
        said = {**document.options, **document.kept}
        options = {name: str(said[name]) for name in OPTIONS if said.get(name)}
        expanded = workspace.hierarchy.expanded_groups(document)
        return DocumentState(document.path, options=options, selected=selected, expanded=expanded)
    if document.dataset is None:
        return None
    from refbrowser.views.derived.computed import long_name_of, source_of

    path, expression, labelled = source_of(document.dataset)
    if not expression:
        return None
    long_name = long_name_of(document.dataset)
    return DocumentState(path, expression, labelled, selected=selected, long_name=long_name)


def _selected(workspace: Workspace, document: OpenDocument) -> str:
    """Return the group or array of a document that is selected, or is plotted."""
    item = workspace.hierarchy.current_item()
    if item is not None and item.document is document and item.kind in (ItemKind.GROUP, ItemKind.ARRAY):
        return str(item.place)
    shown = (plot.whole() for plot in workspace.centre.plots() if plot.source() is document)
    return next((node.path for node in shown if node is not None), "")
