"""The empty window: where to drop a document, the sample, and what was opened lately."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QWidget

from refbrowser.app.widgets import icons, theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPaintEvent, QResizeEvent

    from refbrowser.app.settings.settings import RecentEntry

HEADING = "Drop a file, document or store here"
#: What the table of formats says of files and folders: loading that would put off the first paint.
TEXT = (
    "kerchunk: JSON or parquet; Zarr and NCZarr: folders, zips, URLs; Icechunk: folders, URLs; "
    "ncstream (.ncs); Awkward 0 (.awkd); netCDF classic (.nc); HDF5, netCDF-4 (.h5, .nc); "
    "HDF4; FITS (.fits); GRIB (.grib); GRIB index; TIFF (.tif); DMR++ (.dmrpp); NcML"
)
#: What everybody should know before the first document is opened; `SECURITY.md` says the rest.
PROMISE = (
    "No telemetry. Nothing in a file is run. "
    "Beyond a document's own folder or site, nothing is read before you allow it."
)
#: Recent documents that are shown.
SHOWN = 6
_ICON = 44
_CONTROLS_WIDTH = 620


class StartPane(QWidget):
    """The whole centre is a place to drop documents.

    Its words are painted, so that they are there at once; buttons come with `complete`.

    Signals
    -------
    openFiles(), openStore(), openUrl(), openSample()
        A button was pressed.
    openPath(str)
        One of the recent documents was chosen.
    pinWanted(str)
        One of them is to stay at the top, or no longer.
    restoreWanted()
        The session before is to be restored.
    """

    openFiles = Signal()
    openStore = Signal()
    openUrl = Signal()
    openSample = Signal()
    openPath = Signal(str)
    pinWanted = Signal(str)
    restoreWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("startPane")
        self.setAccessibleName(HEADING)
        self.setAccessibleDescription(f"{TEXT}. {PROMISE}")
        self._controls: QWidget | None = None
        self._recent: list[QWidget] = []
        self._offer: QWidget | None = None
        self._entries: list[RecentEntry] = []
        self._before = ""
        self._lost: list[tuple[str, str]] = []

    def complete(self, recent: Sequence[RecentEntry]) -> None:
        """Add the buttons and the documents that were opened lately."""
        from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

        from refbrowser.app.widgets.small_widgets import push_button

        # Not before: alone in the window it would keep that from a small screen.
        self.setMinimumSize(420, 300)
        self._controls = QWidget(self)
        self._buttons = buttons = QHBoxLayout()
        buttons.setSpacing(theme.MEDIUM)
        buttons.addStretch(1)
        buttons.addWidget(push_button("Open…", "startOpenButton", self.openFiles.emit))
        buttons.addWidget(push_button("Open store…", "startStoreButton", self.openStore.emit))
        buttons.addWidget(push_button("Open URL…", "startUrlButton", self.openUrl.emit))
        buttons.addWidget(push_button("Open the sample", "startSampleButton", self.openSample.emit))
        buttons.addStretch(1)
        self._column = QVBoxLayout(self._controls)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)
        self._column.addLayout(buttons)
        if os.environ.get("REFBROWSER_BUNDLE"):
            self._offer_desktop()
        self._column.addSpacing(theme.HUGE)
        self._column.addStretch(1)
        self._controls.show()
        self.set_recent(recent)

    def _offer_desktop(self) -> None:
        """Offer to add the program to the desktop, where it is not there; what is installed need not ask."""
        from refbrowser.app.frame.desktop_offer import DesktopOffer, offered

        script = offered()
        if script is not None:
            self._offer = DesktopOffer(script)
            self._column.addWidget(self._offer, 0, Qt.AlignmentFlag.AlignHCenter)

    def set_recent(self, entries: Sequence[RecentEntry]) -> None:
        """List the documents that were opened lately."""
        self._entries = list(entries[:SHOWN])
        self._list()

    def set_session(self, words: str) -> None:
        """Offer to restore the session before, which these words are about; none where they are empty."""
        self._before = words
        self._list()

    def set_lost(self, documents: Sequence[tuple[str, str]]) -> None:
        """Offer documents of which a lost process left unsaved edits, each with the time of the last one."""
        self._lost = list(documents[:SHOWN])
        self._list()

    def _list(self) -> None:
        from refbrowser.app.widgets.small_widgets import plain_label, push_button

        for widget in self._recent:
            widget.deleteLater()
        self._recent = []
        if self._before:
            button = push_button(self._before, "restoreSessionButton", self.restoreWanted.emit)
            self._recent.append(button)
        if self._lost:
            title = "Unsaved edits that were kept when the program ended unexpectedly"
            self._recent.append(plain_label(title, role="warning", wrap=False))
        for number, (path, when) in enumerate(self._lost):
            self._recent.append(self._button(path, f"lostButton{number}", f"  ({when})"))
        if self._entries:
            self._recent.append(plain_label("Recent", role="paneTitle", wrap=False))
        for number, entry in enumerate(self._entries):
            self._recent.append(self._recent_line(entry, number))
        for widget in self._recent:
            self._column.insertWidget(self._column.count() - 1, widget, 0, Qt.AlignmentFlag.AlignHCenter)
        self._place_controls()
        # The words above stand higher the more there is below them.
        self.update()

    def _recent_line(self, entry: RecentEntry, number: int) -> QWidget:
        """Return the button of something that was opened lately, with the one that keeps it at the top."""
        from PySide6.QtWidgets import QHBoxLayout

        from refbrowser.app.widgets.small_widgets import push_button
        from refbrowser.views.words import one_line

        path, is_pinned = entry.path, entry.is_pinned
        line = QWidget()
        across = QHBoxLayout(line)
        across.setContentsMargins(0, 0, 0, 0)
        across.setSpacing(0)
        mark = "★" if is_pinned else "☆"
        pin = push_button(mark, f"pinButton{number}", lambda: self.pinWanted.emit(path), flat=True)
        words = "No longer keep at the top" if is_pinned else "Keep at the top"
        pin.setAccessibleName(f"{words}: {one_line(path)}")
        pin.setToolTip(words)
        across.addWidget(pin)
        across.addWidget(self._button(path, f"recentButton{number}", entry.more))
        return line

    def _button(self, path: str, name: str, more: str) -> QWidget:
        from refbrowser.app.widgets.small_widgets import push_button
        from refbrowser.views.words import one_line

        words = one_line(path)
        shown = words if len(words) <= 72 else f"…{words[-71:]}"
        title = f"{shown}{more}".replace("&", "&&")
        button = push_button(title, name, lambda: self.openPath.emit(path), flat=True)
        button.setAccessibleName(f"Open {words}{more}")
        button.setToolTip(theme.plain_tooltip(path))
        return button

    def _parts(self) -> tuple[QRect, QRect, QRect, int]:
        """Return where icon, heading and text stand, and where the controls begin."""
        count = len(self._recent)
        height = 190 + 30 * count
        top = max(24, (self.height() - height) * 2 // 5)
        middle = self.width() // 2
        icon = QRect(middle - _ICON // 2, top, _ICON, _ICON)
        heading = QRect(20, top + _ICON + 10, self.width() - 40, 34)
        text = QRect(20, heading.bottom() + 6, self.width() - 40, 22)
        needed = self.fontMetrics().boundingRect(text, Qt.TextFlag.TextWordWrap, TEXT)
        text.setHeight(max(text.height(), needed.height()))
        return icon, heading, text, text.bottom() + 20

    def _promise(self) -> QRect:
        """Return where the last line stands: at the foot, below all controls."""
        area = QRect(20, 0, self.width() - 40, self.height())
        needed = self.fontMetrics().boundingRect(area, Qt.TextFlag.TextWordWrap, PROMISE)
        return QRect(20, self.height() - 14 - needed.height(), self.width() - 40, needed.height())

    def _place_controls(self) -> None:
        if self._controls is not None:
            top = self._parts()[3]
            width = min(_CONTROLS_WIDTH, self.width() - 40)
            area = QRect((self.width() - width) // 2, top, width, max(40, self._promise().top() - 8 - top))
            self._controls.setGeometry(area)
            self._show_what_fits(area.height())

    def _show_what_fits(self, height: int) -> None:
        """Show as many of the recent documents as there is room for, the newest first."""
        left = height - self._buttons.sizeHint().height() - theme.HUGE
        if self._offer is not None:
            left -= self._offer.sizeHint().height() + self._column.spacing()
        for widget in self._recent:
            left -= widget.sizeHint().height() + self._column.spacing()
            widget.setVisible(left >= 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_controls()

    def paintEvent(self, event: QPaintEvent) -> None:
        scheme = theme.colors()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(scheme.border), 1.5, Qt.PenStyle.DashLine))
        painter.setBrush(QColor(scheme.surface))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 8, 8)
        icon, heading, text, _controls = self._parts()
        painter.drawPixmap(icon, icons.pixmap("drop", _ICON, scheme.accent, self.devicePixelRatioF()))
        painter.setPen(QColor(scheme.text))
        painter.setFont(theme.heading_font(7))
        painter.drawText(heading, Qt.AlignmentFlag.AlignCenter, HEADING)
        painter.setPen(QColor(scheme.muted))
        painter.setFont(self.font())
        painter.drawText(text, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, TEXT)
        painter.drawText(self._promise(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, PROMISE)
        painter.end()
