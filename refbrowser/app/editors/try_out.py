"""The try-out of a function-like template: a field for each argument, and what comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QFormLayout, QGroupBox, QLineEdit, QVBoxLayout

from refbrowser.app.editors.draft import integer
from refbrowser.app.editors.rows import OutcomeLine, named
from refbrowser.app.widgets import theme
from refbrowser.errors import RefbrowserError

if TYPE_CHECKING:
    from refbrowser.references.templates.syntax import Template


class TryOut(QGroupBox):
    """Arguments of the template at hand and its result, following each keystroke.

    An argument that spells an integer is one; in quotation marks it is text. What was typed is kept by the
    argument's name, also for other templates.
    """

    def __init__(self) -> None:
        super().__init__("Try out")
        self.setObjectName("templateTryOut")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.MEDIUM, theme.SMALL, theme.MEDIUM, theme.SMALL)
        self._form = QFormLayout()
        self._form.setHorizontalSpacing(theme.MEDIUM)
        self._form.setVerticalSpacing(theme.SMALL)
        layout.addLayout(self._form)
        self.outcome = OutcomeLine("templateTryOutResult")
        layout.addWidget(self.outcome)
        self._fields: dict[str, QLineEdit] = {}
        self._kept: dict[str, str] = {}
        self._required: tuple[str, ...] = ()
        self._render: Callable[[Mapping[str, Any]], str] = lambda _arguments: ""

    def show_template(self, template: Template | None, render: Callable[[Mapping[str, Any]], str]) -> None:
        """Show a field for each parameter; `render` makes the result of the arguments or raises."""
        parameters = () if template is None else template.parameters
        self._required = () if template is None else template.needed
        self._render = render
        if parameters != tuple(self._fields):
            self._make_fields(parameters)
        self.setVisible(bool(parameters))
        if parameters:
            self._follow()

    def arguments(self) -> dict[str, Any]:
        """Return the arguments by name; an empty field gives none."""
        return {name: argument(field.text()) for name, field in self._fields.items() if field.text() != ""}

    def _make_fields(self, parameters: tuple[str, ...]) -> None:
        while self._form.rowCount():
            self._form.removeRow(0)
        self._fields = {}
        for name in parameters:
            field = named(QLineEdit(self._kept.get(name, "")), f"templateArgument_{name}", f"Argument {name}")
            field.setFont(theme.mono_font())
            field.setPlaceholderText("value")
            field.textEdited.connect(lambda text, name=name: self._typed(name, text))
            self._fields[name] = field
            self._form.addRow(name, field)

    def _typed(self, name: str, text: str) -> None:
        self._kept[name] = text
        self._follow()

    def _follow(self) -> None:
        missing = [name for name in self._required if self._fields[name].text() == ""]
        if missing:
            self.outcome.show_result(f"needs {', '.join(missing)}")
            return
        try:
            self.outcome.show_result(self._render(self.arguments()))
        except RefbrowserError as error:
            self.outcome.show_fault(error.message)


def argument(text: str) -> Any:
    """Return what a typed argument stands for: an integer, or text, with its quotation marks taken off."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    number = integer(text)
    return text if number is None else number
