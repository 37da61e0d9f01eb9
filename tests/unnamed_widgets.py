"""Which widgets that a user acts on have no name."""

from __future__ import annotations

from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from refbrowser.app.widgets.virtual_table import VirtualTable

ACTED_ON = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    VirtualTable,
)


def is_container_of_qt(widget: QWidget | None) -> bool:
    """Tell whether a widget is a container of Qt: the list of a combo box, a bar of tabs, a tool bar."""
    names = ("QComboBoxPrivateContainer", "QTabBar", "QToolBar")
    return widget is not None and any(widget.metaObject().className() == name for name in names)


def unnamed(root: QWidget) -> list[str]:
    """Return the widgets below `root` that lack a name; parts of Qt's own widgets are left out."""
    missing = []
    for widget in root.findChildren(QWidget):
        if not isinstance(widget, ACTED_ON) or widget.objectName().startswith("qt_"):
            continue
        above = widget.parentWidget()
        inner = isinstance(above, QComboBox | QAbstractSpinBox | QLineEdit | QAbstractItemView)
        if inner or isinstance(widget, QHeaderView) or is_container_of_qt(above):
            continue
        described = widget.accessibleName() or (isinstance(widget, QAbstractButton) and widget.text())
        if not widget.objectName() or not described:
            missing.append(f"{type(widget).__name__} {widget.objectName()!r} {widget.accessibleName()!r}")
    return missing
