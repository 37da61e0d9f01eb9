"""The scenes of Awkward 0 files: expressions, what was refused, archives without a directory, exports."""

from __future__ import annotations

from awkward_files import write_events, write_hostile
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTreeWidget, QWidget
from scenes import Stage, scene

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.wings.awkward0.window.expressions_link import ExpressionsLink


def expressions_of(stage: Stage, document: OpenDocument, array: str) -> ExpressionsLink:
    """Show the expressions of an array; its row of the tree is open."""
    hierarchy = stage.window.hierarchy
    hierarchy.select_node(document, array)
    hierarchy.tree.expand(hierarchy.model.find_node(document, array))
    stage.settle()
    stage.wait(lambda: stage.window.pages.get("expressions") is not None)
    stage.trigger("show_expressions")
    stage.settle()
    link = stage.window.pages["expressions"]
    assert link is not None
    return link


def hostile(stage: Stage) -> OpenDocument:
    """Open the file that tries to run programs."""
    document = stage.open(write_hostile(stage.folder, stage.folder / "mark"))
    stage.settle()
    return document


@scene
def expressions(stage: Stage) -> None:
    document = stage.open(write_events(stage.folder))
    link = expressions_of(stage, document, "/events")
    graph = link.pane.graph()
    assert graph is not None
    number = next(each for each in range(len(graph)) if graph.role(each) == "before")
    link.pane.view.show_number(graph.below(number)[1])
    stage.settle()


@scene
def expression_cycle(stage: Stage) -> None:
    document = stage.open(write_events(stage.folder))
    link = expressions_of(stage, document, "/nodes")
    graph = link.pane.graph()
    assert graph is not None
    link.pane.view.show_number(graph.below(0)[1])
    stage.settle()


@scene
def expressions_refused(stage: Stage) -> None:
    expressions_of(stage, hostile(stage), "/bad")


@scene
def safety_report(stage: Stage) -> QWidget:
    hostile(stage)
    dialog = stage.dialog("safety_report")
    view = dialog.findChild(QTreeWidget, "safetyList")
    assert view is not None
    (found,) = view.findItems("bz2.decompress", Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchRecursive)
    view.setCurrentItem(found)
    return dialog


@scene
def allow_function(stage: Stage) -> QWidget:
    hostile(stage)
    return stage.dialog("allow_function")


@scene
def rescued_archive(stage: Stage) -> None:
    whole = write_events(stage.folder).read_bytes()
    document = stage.open(stage.write("cut.awkd", whole[: whole.index(b"PK\x01\x02") - 20]))
    stage.settle()
    stage.select(document, "array", "/events/pt")
