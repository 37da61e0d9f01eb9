"""Every widget that a user acts on has a name for tests and one for screen readers; shortcuts are unique."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from unnamed_widgets import unnamed

import refbrowser
from refbrowser.app.actions.action_spec import Changed
from refbrowser.app.actions.menus import TOOLBAR, actions
from refbrowser.app.commands.nodes import TREE_KEYS
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.tools.export.window.export_dialog import ExportDialog

Open = Callable[[str | Path], OpenDocument]

#: Words that only the manual explained: none of them comes back to the window.
NEEDED_THE_MANUAL = (
    "pending edit", "look again", "look for problems", "internal member", "is called so",
    "assembled from pieces",
    "nothing found in time", "not decided:", "rows were looked at", "keep mine",
    "true proportions", "levels from the", "what is clic", "as usual", "sides, as",
    "only its data tell", "beginning of url", "beginning of the url", "beginning of these", "prepare the ",
    "load the plotting",
)  # fmt: skip
#: And these alone, as the name of a row or a choice.
OLD_LABELS = frozenset({"Made from", "Leads to", "Not compressed", "Not decided", "Advice", "Holds"})
#: Modules of the package whose strings the window shows.
SHOWN = ("app/**/*.py", "tools/*/window/*.py", "wings/*/window/**/*.py")


def shown_strings(text: str) -> list[str]:
    """Return the strings of a module that are no docstrings, those in f-strings too."""
    tree = ast.parse(text)
    docs = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docs)
    return [node.value.replace("&", "") for node in constants if isinstance(node.value, str)]


@pytest.mark.slow
def test_no_words_that_need_the_manual() -> None:
    root = Path(refbrowser.__file__).parent
    strings = {
        (path.name, text)
        for shown in SHOWN
        for path in root.glob(shown)
        for text in shown_strings(path.read_text())
    }
    assert len(strings) > 3_000
    old = [
        found
        for found in strings
        if found[1] in OLD_LABELS or any(word in found[1].casefold() for word in NEEDED_THE_MANUAL)
    ]
    assert old == []


@pytest.mark.slow
def test_every_widget_is_named(
    window: MainWindow, small: Path, opened: Open, settle: Callable[[], None]
) -> None:
    document = opened(small)
    settle()
    window.hierarchy.select_node(document, "/temp")
    for kind, place in (("rule", 0), ("template", "u")):
        window.hierarchy.select_index(window.hierarchy.model.find_identity((document.number, kind, place)))
    window.editors.show_reference(document, "depth/0")
    settle()
    window.actions_["replace_prefix"].trigger()
    settle()
    assert unnamed(window) == []


def test_export_dialog_is_named(
    window: MainWindow, small: Path, opened: Open, settle: Callable[[], None]
) -> None:
    opened(small)
    settle()
    window.actions_["export"].trigger()
    dialog = window.findChild(ExportDialog)
    assert unnamed(dialog) == []
    dialog.close()


def test_main_widgets_have_their_names(
    window: MainWindow, small: Path, opened: Open, settle: Callable[[], None]
) -> None:
    document = opened(small)
    window.hierarchy.select_node(document, "/temp")
    settle()
    window.editors.show_templates(document)
    window.editors.show_rule(document, 0)
    names = (
        "hierarchyView referencesView attributesView plotView templatesEditor genEditor previewView jobsView"
    )
    for name in names.split():
        assert window.findChild(QWidget, name) is not None, name


def test_shortcuts_are_unique_and_actions_complete(window: MainWindow) -> None:
    specs = list(actions())
    # Those of the table of keys act there alone, as those of the tree do there.
    shortcuts = Counter(spec.shortcut for spec in specs if spec.shortcut and spec.name not in TREE_KEYS)
    assert [shortcut for shortcut, count in shortcuts.items() if count > 1] == []
    assert {spec.name for spec in specs} == set(window.groups.table())
    assert {name for name in TOOLBAR if name is not None} <= {spec.name for spec in specs}
    named = {name for spec in specs for name in (spec.when, spec.check) if name}
    assert named <= set(window.groups.conditions(Changed.ALL))
