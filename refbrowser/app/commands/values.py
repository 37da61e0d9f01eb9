"""Values and pictures that leave the window: the view as a file, or on the clipboard; and the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QGuiApplication, QImage, QImageWriter, QPainter, QRegion
from PySide6.QtWidgets import QFileDialog, QGraphicsView, QWidget

from refbrowser.app.commands.copying import Shown, shown_beside, shown_by
from refbrowser.app.commands.group import CommandGroup, by_name
from refbrowser.app.shell.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.views.words import count_text, one_line

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from refbrowser.app.commands.files import PermissionCommands
    from refbrowser.app.shell.centre import Centre
    from refbrowser.app.shell.frame import Frame
    from refbrowser.app.shell.settings import Settings
    from refbrowser.views.plot.saving import ShownValues


#: Pixels of a picture for each of the screen.
SCALE = 2
_MARGIN = theme.LARGE


class ViewPicture:
    """Widgets side by side under two lines of text.

    Parameters
    ----------
    title, subtitle
        What is shown; the second line is left out where it is empty.
    parts
        The widgets, left to right.
    """

    def __init__(self, title: str, subtitle: str, parts: Sequence[QWidget]) -> None:
        self._title, self._subtitle, self._parts = title, subtitle, parts
        self._heading, self._small = theme.heading_font(2), theme.mono_font(-0.5)
        self._top = _MARGIN + QFontMetrics(self._heading).height() + theme.SMALL
        if subtitle:
            self._top += QFontMetrics(self._small).height() + theme.SMALL

    def size(self) -> QSize:
        """Return the size in device independent pixels."""
        width = sum(part.width() for part in self._parts) + theme.MEDIUM * (len(self._parts) - 1)
        height = max((self._drop(part) + part.height() for part in self._parts), default=0)
        return QSize(width + 2 * _MARGIN, self._top + height + _MARGIN)

    def _drop(self, part: QWidget) -> int:
        """Return how much lower than the first part another one stands."""
        first = self._parts[0]
        return max(0, part.mapToGlobal(QPoint()).y() - first.mapToGlobal(QPoint()).y())

    def image(self) -> QImage:
        """Return the picture in pixels, `SCALE` for each of the screen."""
        image = self._painted(SCALE)
        return image.copy(0, 0, image.width(), _height_used(image, _MARGIN * SCALE))

    def _painted(self, scale: int) -> QImage:
        image = QImage(self.size() * scale, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(scale)
        painter = QPainter(image)
        self._paint(painter)
        painter.end()
        return image

    def svg(self) -> bytes:
        """Return the picture as an SVG file: lines and text can be edited, an image is one picture in it."""
        from PySide6.QtSvg import QSvgGenerator

        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        generator = QSvgGenerator()
        generator.setOutputDevice(buffer)
        # Axes are recordings of what was painted: they are scaled where a device has another resolution.
        generator.setResolution(self._parts[0].logicalDpiX())
        size = self.size()
        size.setHeight(_height_used(self._painted(1), _MARGIN))
        generator.setSize(size)
        generator.setViewBox(QRect(QPoint(0, 0), size))
        generator.setTitle(self._title)
        painter = QPainter(generator)
        self._paint(painter)
        painter.end()
        return bytes(buffer.data().data())

    def _paint(self, painter: QPainter) -> None:
        colors, size = theme.colors(), self.size()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(QRect(QPoint(0, 0), size), QColor(colors.surface))
        room = size.width() - 2 * _MARGIN
        line = QRect(_MARGIN, _MARGIN, room, QFontMetrics(self._heading).height())
        self._paint_text(painter, line, self._title, colors.text, heading=True)
        if self._subtitle:
            height = QFontMetrics(self._small).height()
            line = QRect(_MARGIN, line.bottom() + 1 + theme.SMALL, room, height)
            self._paint_text(painter, line, self._subtitle, colors.muted, heading=False)
        left = _MARGIN
        for part in self._parts:
            top = self._top + self._drop(part)
            painter.save()
            if isinstance(part, QGraphicsView):
                part.render(painter, QRectF(left, top, part.width(), part.height()), part.viewport().rect())
            else:
                painter.translate(left, top)
                # Without the background: it is that of the picture.
                part.render(painter, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)
            painter.restore()
            left += part.width() + theme.MEDIUM

    def _paint_text(self, painter: QPainter, line: QRect, text: str, color: str, *, heading: bool) -> None:
        font = self._heading if heading else self._small
        painter.setFont(font)
        painter.setPen(QColor(color))
        fitting = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, line.width())
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, fitting)


def png_bytes(image: QImage) -> bytes:
    """Return an image as a PNG file; on any thread."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())


def _height_used(image: QImage, margin: int) -> int:
    """Return the height of an image without what is empty below a margin at its end."""
    import numpy as np

    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.width())
    used = np.flatnonzero((pixels != pixels[-1, 0]).any(axis=1))
    return min(image.height(), int(used[-1]) + 1 + margin) if len(used) else image.height()


#: What a view can be written as: the suffix, and the words of the dialog.
FORMS = {
    ".png": "Picture (*.png)",
    ".svg": "Drawing (*.svg)",
    ".csv": "Values with coordinates (*.csv)",
    ".npy": "Values for numpy (*.npy)",
}
_PICTURES = (".png", ".svg")
#: Cells that Copy values puts on the clipboard at most.
COPY_CELLS = 1_000_000


class ValueCommands(CommandGroup):
    """What is done with the values on the screen."""

    #: Where the last view was written.
    _folder = ""

    def __init__(
        self,
        frame: Frame,
        *,
        centre: Centre,
        settings: Settings,
        permissions: PermissionCommands,
    ) -> None:
        super().__init__(frame)
        self._centre = centre
        self._settings = settings
        self._permissions = permissions

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.export_view, self.copy_values, self.copy_picture)

    def conditions(self) -> dict[str, bool]:
        """Return whether an array is shown."""
        plot = self._centre.plot
        return {"has_slice": plot is not None and plot.slice_state() is not None}

    def connect_table(self) -> None:
        """Carry out what the table asks for."""
        table, plot = self._centre.table, self._centre.plot
        if table is None or plot is None:
            return
        kept = self._settings.view(table.grid.objectName())
        table.grid.keep_widths({str(kind): width for kind, width in zip(kept[::2], kept[1::2], strict=False)})
        table.grid.widthsChanged.connect(self._keep_widths)
        table.said.connect(self._frame.say)
        table.failed.connect(self._frame.show_error)
        table.cellActivated.connect(self._show_plot)
        table.exportRequested.connect(self.export_view)
        table.trustReviewRequested.connect(self._permissions.review_trust)
        plot.arrayChanged.connect(self._frame.update_actions)

    def _keep_widths(self) -> None:
        """Keep how wide columns of numbers, dates and texts are; not those of one structure's fields."""
        table = self._centre.table
        if table is not None:
            widths = table.grid.widths_kept().items()
            numbers = [number for kind, width in widths if kind.isdecimal() for number in (int(kind), width)]
            self._settings.set_view(table.grid.objectName(), numbers)

    def _show_plot(self) -> None:
        from refbrowser.app.shell.centre import PLOT

        self._centre.show_tab(PLOT)

    def _shown(self) -> Shown | None:
        """Return what the view in front shows."""
        centre = self._centre
        return shown_beside(centre.plot) if centre.table_is_shown() else shown_by(centre.plot)

    # Files

    def export_view(self) -> None:
        """Ask where to write what is on the screen, and as what."""
        shown = self._shown()
        if shown is None:
            return
        path = shown.document.path
        folder = self._folder or (str(Path.home()) if "://" in path else str(Path(path).absolute().parent))
        dialog = QFileDialog(self._frame.window(), "Export view", folder)
        dialog.setObjectName("exportViewDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([*FORMS.values()])
        first = ".csv" if self._centre.table_is_shown() else ".png"
        dialog.selectNameFilter(FORMS[first])
        dialog.setDefaultSuffix(first)
        dialog.selectFile(shown.name + first)

        def filtered(chosen: str) -> None:
            suffix = next(suffix for suffix, words in FORMS.items() if words == chosen)
            named = dialog.selectedFiles()
            dialog.setDefaultSuffix(suffix)
            dialog.selectFile(Path(named[0]).stem + suffix if named else shown.name + suffix)

        dialog.filterSelected.connect(filtered)
        dialog.fileSelected.connect(self.write_view)
        dialog.setModal(True)
        dialog.finished.connect(dialog.deleteLater)
        dialog.show()

    def write_view(self, path: str) -> None:
        """Write what is on the screen to a file; its suffix tells as what."""
        suffix = Path(path).suffix.lower()
        self._folder = str(Path(path).parent)
        if suffix not in FORMS:
            self._frame.say(f"Not written: {one_line(Path(path).name)} ends with none of {', '.join(FORMS)}")
        elif suffix in _PICTURES:
            picture = self._picture()
            if picture is not None:
                self._write_picture(path, picture.image() if suffix == ".png" else picture.svg())
        else:
            self._write_values(path, suffix)

    def _write_picture(self, path: str, drawn: QImage | bytes) -> None:
        def write(control: TaskControl) -> None:
            from refbrowser.io.atomic import write_atomically

            data = drawn if isinstance(drawn, bytes) else png_bytes(drawn)
            write_atomically(path, [data], cancel=control.token)

        self._run(
            f"Write {path}",
            write,
            lambda _none: self._written(path),
            lambda: self.write_view(path),
        )

    def _write_values(self, path: str, suffix: str) -> None:
        shown = self._shown()
        if shown is None:
            return
        read = self._reading(shown)

        def write(control: TaskControl) -> str:
            from refbrowser.io.atomic import write_atomically
            from refbrowser.views.plot.saving import csv_blocks, npy_bytes

            values = read(control)
            blocks = csv_blocks(values) if suffix == ".csv" else [npy_bytes(values)]
            write_atomically(path, blocks, cancel=control.token)
            return values.reserve

        title = f"Export {shown.layout.node.path} to {path}"
        self._run(title, write, lambda reserve: self._written(path, reserve), lambda: self.write_view(path))

    def _written(self, path: str, reserve: str = "") -> None:
        self._frame.say(f"Written: {one_line(path)}{reserve}")

    # The clipboard

    def copy_values(self) -> None:
        """Put the values of the view on the clipboard, with their coordinates, tabs between the cells."""
        shown = self._shown()
        if shown is None:
            return
        count = 1
        for taken in shown.ranges:
            count *= len(taken)
        if count > COPY_CELLS:
            words = f"{count_text(count)} values are too many to copy"
            self._frame.say(f"{words}; Export view writes them to a file")
            return
        read = self._reading(shown)

        def make(control: TaskControl) -> tuple[str, str]:
            from refbrowser.views.plot.saving import rows_with_headers, tsv_text

            values = read(control)
            return tsv_text(rows_with_headers(values)), values.reserve

        def copied(answer: tuple[str, str]) -> None:
            text, reserve = answer
            QGuiApplication.clipboard().setText(text)
            sizes = " × ".join(count_text(len(taken)) for taken in shown.ranges) or "1"
            self._frame.say(f"{sizes} values copied, with their coordinates{reserve}")

        self._run(f"Copy values of {shown.layout.node.path}", make, copied, self.copy_values)

    def copy_picture(self) -> None:
        """Put a picture of the view on the clipboard."""
        picture = self._picture()
        if picture is not None:
            QGuiApplication.clipboard().setImage(picture.image())
            self._frame.say("Picture copied")

    # What both need

    def _reading(self, shown: Shown) -> Callable[[TaskControl], ShownValues]:
        dataset = shown.document.dataset
        assert dataset is not None

        def read(control: TaskControl) -> ShownValues:
            from refbrowser.views.plot.saving import read_shown

            return read_shown(
                dataset.session, dataset.access, shown.layout, shown.ranges, control.token, control.progress
            )

        return read

    def _run(
        self,
        title: str,
        work: Callable[[TaskControl], object],
        done: Callable[[Any], None],
        again: Callable[[], object],
    ) -> None:

        def failed(error: BaseException) -> None:
            self._frame.show_error(f"{title} failed", error, again)

        # The title names the file: exports of one view to several files do not replace each other.
        self._frame.tasks.run(f"view: {title}", title, work, done, failed)

    def _picture(self) -> ViewPicture | None:

        centre = self._centre
        shown = self._shown()
        if shown is None or centre.plot is None or centre.table is None:
            return None
        grid: list[QWidget] = [centre.table.grid.viewport()]
        parts = grid if centre.table_is_shown() else centre.plot.drawn_parts()
        title = centre.plot.header.title.text()
        units = shown.layout.shown.units
        words = [f"{title} [{units}]" if units else title, shown.text]
        return ViewPicture(words[0], f"{shown.layout.node.path}   {words[1]}".strip(), parts)
