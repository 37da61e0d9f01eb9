"""Streams repaired, made compact and appended to: the dialogs that ask, and what is done off the thread."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.small_widgets import plain_label, push_button, show_progress
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_spaced, size_text

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobStatus


#: Lost messages and notes that are listed; the rest is counted.
LISTED = 200


@dataclass(frozen=True, slots=True)
class Done:
    """What was done: the file that it was done to, and a report."""

    target: str
    text: str


def _lines(title: str, found: Sequence[object]) -> list[str]:
    if not found:
        return []
    more = [f"  and {count_text(len(found) - LISTED)} more"] if len(found) > LISTED else []
    return [f"{title} ({count_text(len(found))}):", *(f"  {each}" for each in found[:LISTED]), *more]


def _messages(count: int) -> str:
    return counted_spaced(count, "message")


def _checked(target: str) -> str:
    if not target:
        raise RefbrowserError(ErrorKind.USAGE, "there is no target path")
    return os.path.abspath(os.path.expanduser(target))


def repaired(path: str, target: str, cut: bool, force: bool, control: TaskControl) -> Done:
    """Write what is sound of a stream.

    Raises
    ------
    RefbrowserError
        As `repair`.
    """
    from refbrowser.wings.ncstream.changing.repair import RepairRequest, repair

    report = repair(RepairRequest(path, _checked(target), cut=cut, force=force), control)
    lines = [
        f"Done: {_messages(report.messages)} kept in {report.target}.",
        f"{size_text(report.written_bytes)} written, {size_text(report.lost_bytes)} lost.",
        *(_lines("Lost", report.lost) or ["Nothing is lost."]),
        *_lines("Notes", report.notes),
    ]
    return Done(report.target, "\n".join(lines))


def compacted(
    dataset: Dataset, target: str, level: int | None, checksum: bool, force: bool, control: TaskControl
) -> Done:
    """Write a stream anew, without what was overwritten.

    Raises
    ------
    RefbrowserError
        As `compact`.
    """
    from refbrowser.wings.ncstream.changing.compact import CompactRequest, compact

    request = CompactRequest(target=_checked(target), level=level, checksum=checksum, force=force)
    report = compact(dataset, request, control)
    lines = [
        f"Done: {_messages(report.messages)} in {report.target}, where there were "
        f"{count_text(report.messages_before)}.",
        f"{size_text(report.written_bytes)} written, where there were {size_text(report.bytes_before)}. "
        f"{_messages(report.verified)} read again and equal.",
        *_lines("Notes", report.notes),
    ]
    return Done(report.target, "\n".join(lines))


def appended(
    stream: str, source: Dataset | str, along: str, overwrite: bool, force: bool, control: TaskControl
) -> Done:
    """Append a dataset, an opened one or one at a path, to a stream.

    Raises
    ------
    RefbrowserError
        The source cannot be opened; else as `append_to`.
    """
    from refbrowser.wings.ncstream.changing.append import AppendRequest, append_to

    request = AppendRequest(along=along or None, overwrite=overwrite, force=force)
    if isinstance(source, Dataset):
        report = append_to(stream, source, request, control)
    else:
        from refbrowser.api import open as open_named

        if not source:
            raise RefbrowserError(ErrorKind.USAGE, "nothing to append was chosen", Place(path=stream))
        with open_named(source, progress=control) as opened:
            report = append_to(stream, opened, request, control)
    lines = [f"Done: {_messages(report.messages)} added, {size_text(report.written_bytes)} written."]
    if report.along is not None:
        before, after = count_text(report.before), count_text(report.after)
        lines.append(f"Dimension {report.along}: {before} before, {after} now.")
    lines += _lines("Values added", report.added)
    lines += _lines("As before", report.kept)
    lines += _lines("Filled", report.unfilled)
    lines += _lines("Attributes changed", report.changed)
    lines += _lines("Cannot be kept", report.notes)
    return Done(report.target, "\n".join(lines))


Work = Callable[[TaskControl], "Done"]


class StreamDialog(QDialog):
    """What the dialogs share: a form, a button that starts the work, its progress, and the report.

    Parameters
    ----------
    name
        Begins the object names.
    verb
        Text of the button that starts.
    heading, text
        What it is about.

    Signals
    -------
    changed(str)
        The file at this path was written, or changed.
    openPath(str)
        The user wants to open the file that was written.
    """

    changed = Signal(str)
    openPath = Signal(str)

    def __init__(
        self, document: OpenDocument, name: str, verb: str, heading: str, text: str, parent: QWidget | None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(f"{name}Dialog")
        self.setWindowTitle(verb.replace("&", ""))
        self.resize(640, 420)
        self.document = document
        self._name, self._target = name, ""
        self._job: int | None = None
        title = plain_label(heading)
        title.setFont(theme.heading_font())
        self.form = QFormLayout()
        self.form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        self.form.setHorizontalSpacing(theme.MEDIUM)
        self.form.setVerticalSpacing(theme.MEDIUM)
        self._report = QPlainTextEdit()
        self._report.setObjectName(f"{name}Report")
        self._report.setAccessibleName("Result")
        self._report.setReadOnly(True)
        self._report.setTabChangesFocus(True)
        self._bar = QProgressBar()
        self._bar.setObjectName(f"{name}Progress")
        self._bar.setAccessibleName("Progress")
        self._bar.setTextVisible(False)
        self._open = push_button("Open it", f"{name}OpenButton", lambda: self.openPath.emit(self._target))
        self._start = push_button(verb, f"{name}StartButton", self.start)
        self._start.setDefault(True)
        self._close = push_button("Close", f"{name}CloseButton", self._cancel_or_close)
        buttons = QHBoxLayout()
        buttons.addWidget(self._bar, 4)
        buttons.addStretch(1)
        for button in (self._open, self._start, self._close):
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(title)
        layout.addWidget(plain_label(text, role="muted"))
        layout.addLayout(self.form)
        layout.addWidget(self._report, 1)
        # In its place while there is none.
        layout.addStretch(0)
        layout.addLayout(buttons)

    def work(self) -> Work:
        """Return what is to be done, as the form says now."""
        raise NotImplementedError

    def finish(self) -> None:
        """Let the keyboard go through the form first; called when that is filled."""
        stops: list[QWidget] = []
        for row in range(self.form.rowCount()):
            item = self.form.itemAt(row, QFormLayout.ItemRole.FieldRole)
            inside = None if item is None else item.layout()
            items = [item] if inside is None else [inside.itemAt(at) for at in range(inside.count())]
            found = (None if each is None else each.widget() for each in items)
            stops += [widget for widget in found if widget is not None]
        stops += [self._report, self._open, self._start, self._close]
        for before, after in pairwise(stops):
            self.setTabOrder(before, after)
        stops[0].setFocus()
        self._show_state()

    def report(self) -> str:
        """Return the report that is shown."""
        return self._report.toPlainText()

    def is_running(self) -> bool:
        """Whether the work is under way."""
        return self._job is not None

    # Parts of forms

    def path_field(self, label: str, name: str, path: str, browse: Callable[[], object]) -> QLineEdit:
        """Add a field for a path."""
        field = QLineEdit(path)
        field.setObjectName(f"{self._name}{name}")
        field.setAccessibleName(label.replace("&", ""))
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        line.addWidget(field, 1)
        line.addWidget(push_button("Browse…", f"{self._name}BrowseButton", browse))
        self.form.addRow(label, line)
        buddy = self.form.labelForField(line)
        if buddy is not None:
            buddy.setBuddy(field)  # type: ignore[attr-defined]
        return field

    def target_field(self, suffix: str) -> QLineEdit:
        """Add a field for the file to be written, beside the stream."""
        path = Path(self.document.path)
        proposed = "" if "://" in self.document.path else str(path.with_name(f"{path.stem}.{suffix}.ncs"))

        def browse() -> None:
            dialog = QFileDialog(self, "Write to", str(Path(field.text() or ".").parent), "Streams (*.ncs)")
            dialog.setObjectName(f"{self._name}TargetDialog")
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setDefaultSuffix("ncs")
            # The field says whether what is there is replaced.
            dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)
            dialog.selectFile(field.text())
            dialog.fileSelected.connect(field.setText)
            dialog.open()

        field = self.path_field("&Target", "Target", proposed, browse)
        return field

    def tick(self, name: str, text: str, *, on: bool = False) -> QCheckBox:
        """Add a box to tick."""
        box = QCheckBox(text)
        box.setObjectName(f"{self._name}{name}")
        box.setAccessibleName(text.replace("&", ""))
        box.setChecked(on)
        self.form.addRow("", box)
        return box

    # Carrying it out

    def start(self) -> None:
        """Do what the form says."""
        if self.is_running():
            return
        document, work = self.document, self.work()
        self._target = ""
        self._report.setPlainText("")
        title = f"{self.windowTitle()}: {document.title}"
        handle = document.tasks.run(
            document.owner(self._name), title, work, self._done, self._failed, followed=self._follow
        )
        self._job = handle.number
        self._show_state()

    def _done(self, done: Done) -> None:
        self._job, self._target = None, done.target
        self._report.setPlainText(done.text)
        self._show_state()
        self.changed.emit(done.target)

    def _failed(self, error: BaseException) -> None:
        self._job = None
        self._report.setPlainText(error_text(error))
        self._show_state()

    def _follow(self, status: JobStatus) -> None:
        if status.state == "cancelled":
            self._job = None
            self._report.setPlainText("Cancelled: nothing was changed.")
            self._show_state()
        elif status.total:
            show_progress(self._bar, status.done, status.total)

    def _show_state(self) -> None:
        running = self.is_running()
        self._bar.setVisible(running)
        self._bar.setRange(0, 0)
        self._start.setEnabled(not running)
        self._close.setText("Cancel" if running else "Close")
        self._report.setVisible(bool(self.report()))
        self._open.setVisible(bool(self._target) and self._target != self.document.path)

    def _cancel_or_close(self) -> None:
        if self._job is None:
            self.reject()
        else:
            self.document.tasks.cancel(self._job)

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._job is not None:
            self.document.tasks.cancel(self._job)
        super().closeEvent(event)


class RepairDialog(StreamDialog):
    """Writes what is sound of a damaged stream."""

    def __init__(self, document: OpenDocument, parent: QWidget | None = None) -> None:
        heading = f"Repair {one_line(document.title)}"
        text = (
            "The sound messages are written to a new stream, and what is left out is listed. "
            "The damaged file stays as it is, unless it is the target itself."
        )
        super().__init__(document, "repair", "Repair", heading, text, parent)
        self._field = self.target_field("repaired")
        self._cut = self.tick("Cut", "&Drop everything after the first damage")
        self._force = self.tick("Force", "&Replace what is there")
        self.finish()

    def work(self) -> Work:
        path, target = self.document.path, self._field.text().strip()
        cut, force = self._cut.isChecked(), self._force.isChecked()

        def work(control: TaskControl) -> Done:

            return repaired(path, target, cut, force, control)

        return work


class CompactDialog(StreamDialog):
    """Writes a stream anew, without what was overwritten."""

    def __init__(self, document: OpenDocument, parent: QWidget | None = None) -> None:
        heading = f"Compact {one_line(document.title)}"
        text = (
            "The stream is rewritten: one header, no message that a later one replaced, small messages "
            "joined. The values stay the same."
        )
        super().__init__(document, "compact", "Compact", heading, text, parent)
        self._field = self.target_field("compact")
        self._level = QComboBox()
        self._level.setObjectName("compactLevel")
        self._level.setAccessibleName("Deflate")
        self._level.addItem("As it is stored", None)
        self._level.addItem("None", 0)
        for level in range(1, 10):
            self._level.addItem(f"Level {level}", level)
        self.form.addRow("&Deflate", self._level)
        self._checksum = self.tick("Checksum", "Add &checksums (crc32)", on=True)
        self._force = self.tick("Force", "&Replace what is there")
        self.finish()

    def work(self) -> Work:
        dataset, target, level = self.document.dataset, self._field.text().strip(), self._level.currentData()
        checksum, force = self._checksum.isChecked(), self._force.isChecked()
        assert dataset is not None

        def work(control: TaskControl) -> Done:

            return compacted(dataset, target, level, checksum, force, control)

        return work


class AppendDialog(StreamDialog):
    """Appends a dataset, or the edits of attributes, to a stream.

    Parameters
    ----------
    others
        The other documents that are open.
    """

    def __init__(
        self, document: OpenDocument, others: Sequence[OpenDocument], parent: QWidget | None = None
    ) -> None:
        heading = f"Append to {one_line(document.title)}"
        text = (
            "New messages are written after the last one; the existing ones are not rewritten. After "
            "a crash the stream is as before, or has everything that was added."
        )
        super().__init__(document, "append", "Append", heading, text, parent)
        self._source = QComboBox()
        self._source.setObjectName("appendSource")
        self._source.setAccessibleName("What to append")
        self._source.addItem("A file, folder or URL", None)
        if document.is_dirty:
            self._source.addItem("The unsaved edits of its attributes", document)
        for other in others:
            self._source.addItem(one_line(other.title), other)
        self._source.setCurrentIndex(1 if document.is_dirty else 0)
        self._source.currentIndexChanged.connect(lambda _row: self._show_source())
        self.form.addRow("&Append", self._source)
        self._field = self.path_field("&Path", "Path", "", self._browse)
        self._along = QLineEdit()
        self._along.setObjectName("appendAlong")
        self._along.setAccessibleName("Dimension to append along")
        self._along.setPlaceholderText("the only unlimited dimension of both")
        self.form.addRow("A&long", self._along)
        self._overwrite = self.tick("Overwrite", "&Overwrite existing values")
        self._force = self.tick("Force", "&Drop bytes after the end of the stream")
        self._show_source()
        self.finish()

    def _show_source(self) -> None:
        named = self._source.currentData() is None
        self._field.setEnabled(named)
        is_edits = self._source.currentData() is self.document
        self._along.setEnabled(not is_edits)
        self._overwrite.setEnabled(not is_edits)

    def _browse(self) -> None:
        dialog = QFileDialog(self, "What to append", str(Path(self.document.path).parent))
        dialog.setObjectName("appendSourceDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)

        def chosen(path: str) -> None:
            self._source.setCurrentIndex(0)
            self._field.setText(path)

        dialog.fileSelected.connect(chosen)
        dialog.open()

    def work(self) -> Work:
        path, other = self.document.path, self._source.currentData()
        source = self._field.text().strip() if other is None else other.dataset
        along, overwrite = self._along.text().strip(), self._overwrite.isChecked()
        force = self._force.isChecked()

        def work(control: TaskControl) -> Done:

            return appended(path, source, along, overwrite, force, control)

        return work
