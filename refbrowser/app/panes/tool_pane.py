"""The pane of a tool that has none of its own: the fields of its request, and its report as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.editors.option_fields import Field, field_of
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.rows import FlowLayout, named
from refbrowser.app.widgets.small_widgets import push_button
from refbrowser.engine.jobs import Priority
from refbrowser.errors import RefbrowserError
from refbrowser.formats.option_fields import declared, usual
from refbrowser.loading import load
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.controller.documents import Documents
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.tools.tool import Report, Tool

#: Letters that a field of text shows.
_CHARACTERS = 26


class ToolPane(QWidget):
    """Runs a tool on the current document, off the window's thread, and shows its report."""

    def __init__(self, tool: Tool, documents: Documents) -> None:
        super().__init__()
        self._tool, self._documents = tool, documents
        self._request: type[Any] = load(tool.request)
        self._running = Latest(self, f"tool {tool.name}")
        self._fields: dict[str, Field] = {
            name: field_of(
                self, each, f"{tool.name}{name.title().replace('_', '')}", usual(self._request, name)
            )
            for name, each in declared(self._request).items()
        }
        self.run_button = push_button("Run", f"{tool.name}RunButton", self.run)
        self.words = ElidedLabel(f"{tool.name}Words", role="muted")
        self.report = named(QPlainTextEdit(), f"{tool.name}Report", f"Report of {tool.name}")
        self.report.setReadOnly(True)
        self.report.setFont(theme.mono_font())
        self.report.setPlaceholderText(f"{tool.words[:1].upper()}{tool.words[1:]}: Run shows it here")
        self._lay_out()
        documents.currentChanged.connect(self._follow)
        self._follow(documents.current)

    def _lay_out(self) -> None:
        choices = QWidget()
        flow = FlowLayout(choices, spacing=theme.MEDIUM)
        for field in self._fields.values():
            flow.addWidget(_labelled(field))
        flow.addWidget(self.run_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SMALL, theme.SMALL, theme.SMALL, 0)
        layout.setSpacing(theme.SMALL)
        layout.addWidget(choices)
        layout.addWidget(self.words)
        layout.addWidget(self.report, 1)

    def run(self) -> None:
        """Run the tool as the fields say; a run that is under way ends."""
        document = self._documents.current
        dataset = None if document is None else document.dataset
        if document is None or dataset is None:
            self.words.set_text("The document is not read yet")
            return
        try:
            request = self._said()
        except RefbrowserError as error:
            self.words.set_text(one_line(str(error)))
            return
        work = load(self._tool.run)

        def run(control: TaskControl) -> tuple[Report, str]:
            report: Report = work(request, dataset, control)
            return report, "\n".join(map(one_line, report.lines()))

        title = f"{self._tool.name}: {one_line(document.title)}"
        self.words.set_text("Running…")
        self._running.run(document, title, run, self._show, self._failed, priority=Priority.EXPORT)

    def _said(self) -> Any:
        options = declared(self._request)
        said = {name: field.said() for name, field in self._fields.items()}
        return self._request(
            **{name: options[name].value(value) for name, value in said.items() if value is not None}
        )

    def _show(self, shown: tuple[Report, str]) -> None:
        report, text = shown
        self.report.setPlainText(text)
        self.words.set_text("Done" if not report.exit_code() else "Done: there is something to look at")

    def _failed(self, error: BaseException) -> None:
        self.words.set_text(one_line(str(error)))

    def _follow(self, document: OpenDocument | None) -> None:
        """Forget what was told of another document."""
        self.run_button.setEnabled(document is not None)
        self.words.set_text("" if document is None else one_line(document.title))
        self.report.clear()


def _labelled(field: Field) -> QWidget:
    first, *others = field.widgets
    box = QWidget()
    line = QHBoxLayout(box)
    line.setContentsMargins(0, 0, 0, 0)
    line.setSpacing(theme.SMALL)
    if not isinstance(first, QCheckBox):
        label = QLabel(field.option.label or field.option.title or field.option.flag.lstrip("-"))
        label.setBuddy(first)
        line.addWidget(label)
    if isinstance(first, QLineEdit | QComboBox):
        # A path of an array is seen whole.
        first.setMinimumWidth(first.fontMetrics().averageCharWidth() * _CHARACTERS)
    for widget in (first, *others):
        line.addWidget(widget)
    return box
