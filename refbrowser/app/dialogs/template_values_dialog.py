"""The dialog for values that take the place of templates; they are used and never saved."""

from __future__ import annotations

from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import plain_label
from refbrowser.views.words import one_line

#: Templates that get a field; a document may have 10,000.
SHOWN = 200


class TemplateValuesDialog(QDialog):
    """One field per template; an empty field leaves the document's own text in force."""

    def __init__(self, document: OpenDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("templateValuesDialog")
        self.setWindowTitle("Template values")
        self.setModal(True)
        self.resize(620, 380)
        heading = plain_label("Values for templates")
        heading.setFont(theme.heading_font())
        text = plain_label(
            "A value takes the place of the template's text while the document is open here, for example "
            "a mirror of the data. It is never saved. An empty field leaves the document's text in force.",
            role="muted",
        )
        self._fields: dict[str, QLineEdit] = {}
        form = QWidget()
        rows = QFormLayout(form)
        rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        state = document.document
        templates = (
            {} if state is None else {name: str(text) for name, text in state.templates.templates.items()}
        )
        for name, source in list(templates.items())[:SHOWN]:
            field = QLineEdit(document.template_values.get(name, ""))
            field.setObjectName(f"templateValue_{name}")
            field.setAccessibleName(f"Value of template {name}")
            field.setPlaceholderText(one_line(source))
            field.setFont(theme.mono_font())
            rows.addRow(plain_label(one_line(name), wrap=False), field)
            self._fields[name] = field
        if not templates:
            rows.addRow(plain_label("This document has no templates.", role="muted"))
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setWidget(form)
        buttons = QDialogButtonBox()
        buttons.addButton("Use", QDialogButtonBox.ButtonRole.AcceptRole).setObjectName(
            "templateValuesUseButton"
        )
        buttons.addButton("Cancel", QDialogButtonBox.ButtonRole.RejectRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(heading)
        layout.addWidget(text)
        layout.addWidget(area, 1)
        layout.addWidget(buttons)

    def values(self) -> dict[str, str]:
        """Return the values that were given, by template."""
        return {name: field.text() for name, field in self._fields.items() if field.text()}
