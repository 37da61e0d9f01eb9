"""A figure: plots with their colours under a title and over a caption, on paper or in pixels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import ceil

from pyqtgraph import mkBrush, mkPen
from pyqtgraph.graphicsItems.ScatterPlotItem import drawSymbol
from PySide6.QtCore import (
    QBuffer,
    QByteArray,
    QIODevice,
    QMarginsF,
    QPointF,
    QRect,
    QRectF,
    QSize,
    QSizeF,
    Qt,
)
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontInfo,
    QFontMetricsF,
    QGuiApplication,
    QImage,
    QImageWriter,
    QPageSize,
    QPainter,
    QPdfWriter,
    QPen,
    QPixmapCache,
    QTextLayout,
    QTextOption,
)
from PySide6.QtSvg import QSvgGenerator

from refbrowser.app.plot.axes.axes_view import AxesView
from refbrowser.app.plot.legends import stale_brush, state_brush
from refbrowser.app.widgets import theme
from refbrowser.tools.figure.window.figure_chart import FigureChart
from refbrowser.tools.figure.window.figure_plot import FigurePlot
from refbrowser.tools.figure.window.line_widths import kept, thicker, unclipped
from refbrowser.views.figures.figure_form import FigureForm, FigureWords, title_of
from refbrowser.views.figures.figure_size import check_size
from refbrowser.views.plot.picture import ChunkState

#: What a figure is made of.
Drawn = FigurePlot | FigureChart
#: A plot without proportions of its own is so many times as wide as high, and a chart below it.
_PROPORTIONS, _CHART_PROPORTIONS = 1.5, 3.0
#: A figure as high as it wants to be is at most so many times as high as wide, and at least so high.
_HIGHEST, _LOWEST = 1.6, 0.3
#: Lines and ticks are seen on paper, too, where those of a window would be faint.
_COLORS = {
    "light": theme.LIGHT._replace(border="#79828f", muted="#36404e"),
    "dark": theme.DARK._replace(border="#6a7482", muted="#c0c9d6"),
}
#: Plots beside each other.
_ACROSS = 3
#: Lines of a title.
_TITLE_LINES = 2
#: Characters that no XML holds.
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
#: Lines of a caption, and of why nothing is seen.
_CAPTION_LINES = 6
#: A plot is at least so wide and high, in points: less is for nobody to see.
_LEAST_PLOT = 60.0
#: A line that tells of a loss is so many times as high as its letters.
_LOSS_LINE = 1.35
#: And below these lines so much is free, in heights of letters.
_AFTER_LOSSES = 0.3
#: From this size of the letters on, in points, the bar of colours grows with them.
_BAR_POINTS = 10.0
#: Lines are as thick as in the window in a figure so wide, in inches; in others more or less so.
_USUAL_WIDTH, _THINNEST, _THICKEST = 6.5, 0.55, 1.5
#: Bytes of each pixel, of pictures of lines that are kept.
_KEPT = 16
#: Flags that are listed beside a plot.
_FLAGS = 24


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a plot and what belongs to it lie, in units of the figure."""

    canvas: QRectF
    heading: QRectF
    beside: float


class FigureDrawing:
    """Lays out some plots and draws them.

    A unit is a pixel of the screen as long as there are as many of these in an inch as it says.

    Parameters
    ----------
    plots
        At least one; all have come.
    spare_lines
        Free below, for what is to be said of other frames of a film.
    """

    def __init__(
        self, plots: Sequence[Drawn], form: FigureForm, words: FigureWords, spare_lines: int = 0
    ) -> None:
        self._plots, self._form, self._words = plots, form, words
        self._spare_lines = spare_lines
        self._dots = QGuiApplication.primaryScreen().logicalDotsPerInch()
        self._appearance = theme.Appearance(_COLORS[form.scheme], _figure_font(form.points))
        self._places: dict[Drawn, _Place] = {}
        #: Pixels of each unit for which lines are as thick as they are to be already; 0 for none.
        self._held_scale = 0.0
        #: What cuts parts of an SVG file.
        self._cuts: list[QRectF] = []
        with theme.drawn_as(self._appearance):
            self._small, self._heading = theme.font(-1.0 if form.points > 6 else 0), theme.heading_font(1.0)
            self._restyle()
            self._lay_out()

    # Size

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height."""
        return self._size.width() / self._dots, self._size.height() / self._dots

    @property
    def pixels(self) -> QSize:
        """Width and height of its picture."""
        form = self._form
        if form.size.unit == "px" and form.size.height is not None:
            return QSize(round(form.size.width), round(form.size.height))
        width, height = self.inches
        return QSize(round(width * form.dpi), round(height * form.dpi))

    # Words

    @property
    def title(self) -> str:
        """What is written over it."""
        if self._words.title is not None:
            return self._words.title
        pictures = self._pictures
        return title_of(pictures[0].label, pictures[0].held) if len(pictures) == 1 else ""

    @property
    def caption(self) -> str:
        """What is written below it."""
        if self._words.caption is not None:
            return self._words.caption
        told = dict.fromkeys(plot.caption for plot in self._plots if plot.caption)
        return "\n".join(told)

    def losses(self) -> list[tuple[ChunkState | None, str]]:
        """Return what in it shows no values of its own, in words."""
        return list(dict.fromkeys(loss for plot in self._plots for loss in plot.losses()))

    # Layout

    def _restyle(self) -> None:
        for plot in self._plots:
            plot.restyle(self._form, self._words, self._appearance.font)

    def _lay_out(self) -> None:
        """Find where everything lies, and give each plot its size."""
        form, dots = self._form, self._dots
        metrics = QFontMetricsF(self._appearance.font)
        self._gap = gap = metrics.height() * 0.6
        width = form.size.inches(form.size.width, form.dpi) * dots
        check_size(width / dots, max(width / dots * _LOWEST, 0.5), form.dpi)
        room = width - 2 * gap
        self._title_lines = self._wrapped(self.title, self._heading, room, _TITLE_LINES) if form.title else []
        below = self._below(room)
        top = gap + self._height_of(self._title_lines, self._heading)
        spare = self._spare_lines * QFontMetricsF(self._small).height() * _LOSS_LINE
        self._bottom = spare + sum(height for _words, _font, height in below)
        bottom = gap + self._bottom
        rows = self._rows()
        small = QFontMetricsF(self._small)
        cells = [(room - gap * (len(row) - 1)) / len(row) for row in rows]
        self._headings = {
            plot: self._wrapped(title_of(plot.label, plot.held), self._small, cell, _TITLE_LINES)
            for row, cell in zip(rows, cells, strict=True)
            for plot in row
            if len(self._pictures) != 1 or plot not in self._pictures
        }
        lines = [max(len(self._headings.get(plot, ())) for plot in row) for row in rows]
        headings = [count and count * small.lineSpacing() + small.height() * 0.3 for count in lines]
        wanted = [
            max(self._wanted_height(plot, cell - self._beside(plot)) for plot in row)
            for row, cell in zip(rows, cells, strict=True)
        ]
        fixed = top + bottom + gap + sum(headings) + gap * (len(rows) - 1)
        if form.size.height is None:
            height = min(max(fixed + sum(wanted), width * _LOWEST), width * _HIGHEST * len(rows))
        else:
            height = form.size.inches(form.size.height, form.dpi) * dots
        check_size(width / dots, height / dots, form.dpi)
        self._size = QSizeF(width, height)
        share = (height - fixed) / sum(wanted)
        least = _LEAST_PLOT * dots / 72
        self._places, above = {}, top
        for row, cell, heading, high in zip(rows, cells, headings, wanted, strict=True):
            for column, plot in enumerate(row):
                left, beside = gap + column * (cell + gap), self._beside(plot)
                size = QSizeF(max(least, cell - beside), max(least, high * share))
                place = QRectF(QPointF(left, above + heading), size)
                self._places[plot] = _Place(place, QRectF(left, above, cell, heading), beside)
                plot.resize(size.toSize(), form.dpi / dots)
            above += heading + high * share + gap
        self._below_words = below

    @property
    def _pictures(self) -> list[Drawn]:
        return [plot for plot in self._plots if isinstance(plot, FigurePlot)]

    def _rows(self) -> list[list[Drawn]]:
        """Return the plots as they lie below each other: pictures side by side, then each chart."""
        pictures = self._pictures
        columns = ceil(len(pictures) / ceil(len(pictures) / _ACROSS))
        rows = [pictures[start : start + columns] for start in range(0, len(pictures), columns)]
        return [*rows, *([plot] for plot in self._plots if plot not in pictures)]

    def rewrite(self) -> None:
        """Take what plots show now, in the same places, and the words for it."""
        with theme.drawn_as(self._appearance):
            for plot in self._plots:
                plot.redraw()
            room = self._size.width() - 2 * self._gap
            if self._title_lines:
                self._title_lines = self._wrapped(self.title, self._heading, room, len(self._title_lines))
            self._below_words = self._below(room)

    def _wanted_height(self, plot: Drawn, width: float) -> float:
        """Return how high a plot of some width wants to be."""
        canvas = plot.canvas
        plot.resize(QSizeF(width, width / _PROPORTIONS).toSize(), self._form.dpi / self._dots)
        wide = width - canvas.upwards.width() - plot.margins[0]
        proportions = plot.proportions or (_PROPORTIONS if plot in self._pictures else _CHART_PROPORTIONS)
        return wide / proportions + canvas.across.height() + plot.margins[1]

    def _beside(self, plot: Drawn) -> float:
        """Return how much room the colours of a plot need beside it."""
        strip, flags = plot.strip(), plot.flags()
        if not self._form.bar:
            return 0.0
        metrics = QFontMetricsF(self._small)
        if flags:
            widest = max(metrics.horizontalAdvance(text) for _colour, text in flags[:_FLAGS])
            return min(widest, self._form.points * 22) + metrics.height() * 1.5 + self._gap
        if strip is None:
            return 0.0
        ticks = [metrics.horizontalAdvance(text) for _value, text in strip.ticks()]
        named = metrics.height() + 6 * self._bar_scale if strip.title else 0
        return 30 * self._bar_scale + max(ticks, default=0.0) + named + self._gap

    @property
    def _bar_scale(self) -> float:
        return max(1.0, self._form.points / _BAR_POINTS)

    def _below(self, room: float) -> list[tuple[str, QFont, float]]:
        """Return the lines below the plots, each with its font and height."""
        metrics = QFontMetricsF(self._small)
        lines = [("", self._small, metrics.height() * _LOSS_LINE) for _loss in self.losses()]
        notes = dict.fromkeys(plot.note for plot in self._plots if plot.note)
        if lines and (notes or self.caption):
            lines.append(("", self._small, _AFTER_LOSSES * metrics.height()))
        texts = [*notes, *(self.caption.split("\n") if self._form.caption and self.caption else ())]
        for text in texts:
            lines += [
                (line, self._small, metrics.lineSpacing())
                for line in self._wrapped(text, self._small, room, _CAPTION_LINES)
            ]
        if lines:
            lines.insert(0, ("", self._small, metrics.height() * 0.4))
        return lines

    def _wrapped(self, text: str, font: QFont, room: float, most: int) -> list[str]:
        """Return a text as at most so many lines that fit."""
        layout = QTextLayout(text, font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        lines: list[str] = []
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(room)
            start = line.textStart()
            if len(lines) == most - 1:
                metrics = QFontMetricsF(font)
                lines.append(metrics.elidedText(text[start:], Qt.TextElideMode.ElideRight, room))
                break
            lines.append(text[start : start + line.textLength()].rstrip())
        layout.endLayout()
        return [line for line in lines if line]

    def _height_of(self, lines: Sequence[str], font: QFont) -> float:
        metrics = QFontMetricsF(font)
        return len(lines) * metrics.lineSpacing() + (self._gap * 0.6 if lines else 0.0)

    # Drawing

    def image(self) -> QImage:
        """Return it as pixels."""
        image = self.blank()
        self.paint(image)
        return image

    def blank(self, scale: float | None = None) -> QImage:
        """Return an image of its size that nothing is drawn in yet; `scale` in place of its own pixels."""
        size = self.pixels if scale is None else (self._size * scale).toSize()
        image = QImage(size, QImage.Format.Format_RGB32)
        image.fill(QColor(self._appearance.colors.surface))
        return image

    def paint(self, image: QImage, part: QRectF | None = None) -> None:
        """Draw it into an image of its proportions, or a part of it in pixels of that."""
        scale = image.width() / self._size.width()
        painter = QPainter(image)
        if part is not None:
            painter.setClipRect(part)
        painter.scale(scale, image.height() / self._size.height())
        self._draw(painter, scale)
        painter.end()

    def preview(self, room: QSize) -> QImage:
        """Return it as pixels, as large as fits into a room."""
        scale = min(room.width() / self._size.width(), room.height() / self._size.height())
        image = self.blank(max(scale, 0.05))
        self.paint(image)
        return image

    @property
    def _thickness(self) -> float:
        return min(_THICKEST, max(_THINNEST, self._size.width() / self._dots / _USUAL_WIDTH))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep what is the same in many images of its own size, such as coastlines, between them."""
        scale, limit = self.pixels.width() / self._size.width(), QPixmapCache.cacheLimit()
        # A picture of lines as large as the whole is kept only where there is room for it.
        QPixmapCache.setCacheLimit(max(limit, self.pixels.width() * self.pixels.height() * _KEPT // 1024))
        with ExitStack() as stack:
            for plot in self._plots:
                stack.enter_context(thicker(plot.canvas.scene(), scale * self._thickness))
                stack.enter_context(kept(plot.canvas.scene()))
            self._held_scale = scale
            try:
                yield
            finally:
                self._held_scale = 0.0
                QPixmapCache.setCacheLimit(limit)

    def png(self) -> QImage:
        """Return it as pixels that say how large they are, and what they show."""
        image = self.image()
        per_metre = round(self._form.dpi / 0.0254)
        image.setDotsPerMeterX(per_metre)
        image.setDotsPerMeterY(per_metre)
        image.setText("Title", self.title or self._plots[0].label)
        image.setText("Description", self.caption)
        image.setText("Software", "refbrowser")
        return image

    def pdf(self) -> bytes:
        """Return it as a PDF file of one page: words as text, images in their own resolution."""
        buffer = _buffer()
        writer = QPdfWriter(buffer)
        writer.setResolution(round(self._dots))
        writer.setTitle(self.title or self._plots[0].label)
        writer.setCreator("refbrowser")
        points = QSizeF(self._size) * 72 / self._dots
        # A page has whole points; what is too much of the last one is cut off again.
        page = QSizeF(ceil(points.width()), ceil(points.height()))
        writer.setPageSize(QPageSize(page, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch))
        writer.setPageMargins(QMarginsF())
        painter = QPainter(writer)
        painter.setRenderHint(QPainter.RenderHint.LosslessImageRendering)
        scale = round(self._dots) / self._dots
        painter.scale(scale, scale)
        self._draw(painter, 1.0)
        painter.end()
        return _trimmed(bytes(buffer.data().data()), points, page)

    def svg(self) -> bytes:
        """Return it as an SVG file: words as text, images in their own resolution."""
        buffer = _buffer()
        generator = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
        generator.setOutputDevice(buffer)
        generator.setResolution(round(self._dots))
        generator.setSize(self._size.toSize())
        generator.setViewBox(QRectF(QPointF(), self._size))
        generator.setTitle(self.title or self._plots[0].label)
        generator.setDescription(self.caption)
        self._cuts.clear()
        painter = QPainter(generator)
        self._draw(painter, 1.0)
        painter.end()
        family = QFontInfo(self._appearance.font).family()
        drawn = _cut_by(bytes(buffer.data().data()).decode(), self._cuts)
        return _sized(drawn, self.inches, family).encode()

    def _draw(self, painter: QPainter, scale: float) -> None:
        colors = self._appearance.colors
        with theme.drawn_as(self._appearance):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
            painter.fillRect(QRectF(QPointF(), self._size), QColor(colors.surface))
            for plot, place in self._places.items():
                self._draw_plot(painter, plot, place, scale)
            self._draw_words(painter)

    def _draw_plot(self, painter: QPainter, plot: Drawn, place: _Place, scale: float) -> None:
        self._draw_heading(painter, place.heading, self._headings.get(plot, []))
        if not plot.is_drawn:
            self._draw_failure(painter, place.canvas, plot.failure())
            return
        with ExitStack() as stack:
            if scale != self._held_scale:
                stack.enter_context(thicker(plot.canvas.scene(), scale * self._thickness))
            self._render(painter, plot.canvas, place.canvas.topLeft())
        painter.setPen(
            QPen(QColor(self._appearance.colors.border), self._thickness, j=Qt.PenJoinStyle.MiterJoin)
        )
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(plot.canvas.exact_box().translated(place.canvas.topLeft()))
        if place.beside:
            self._draw_beside(painter, plot, place)

    def _draw_heading(self, painter: QPainter, place: QRectF, lines: Sequence[str]) -> None:
        """Draw what tells one plot from the others, right above it."""
        metrics = QFontMetricsF(self._small)
        top = place.bottom() - metrics.height() * 0.3 - len(lines) * metrics.lineSpacing()
        for number, line in enumerate(lines):
            rect = QRectF(place.left(), top, place.width(), metrics.lineSpacing())
            rect.translate(0, number * metrics.lineSpacing())
            self._draw_line(painter, rect, line, self._small)

    def _render(self, painter: QPainter, canvas: AxesView, at: QPointF) -> None:
        """Draw a canvas with its upper left corner at a place."""
        seen = canvas.viewport().rect()
        target = QRectF(at, QSizeF(seen.size()))
        if isinstance(painter.device(), QSvgGenerator):
            self._render_in_turn(painter, canvas, at, target)
        else:
            canvas.render(painter, target, seen)

    def _render_in_turn(self, painter: QPainter, canvas: AxesView, at: QPointF, target: QRectF) -> None:
        """Draw a canvas as SVG: the box, and then the axes."""
        seen = canvas.viewport().rect()
        # Qt's SVG keeps what cut one thing for those that are drawn after it. So nothing cuts but what is
        # noted here: the box for what is in it, and the whole canvas for the axes.
        axes, ground = (canvas.across, canvas.upwards), canvas.backgroundBrush()
        canvas.setBackgroundBrush(QBrush(Qt.BrushStyle.NoBrush))
        with unclipped(canvas.scene()):
            for hidden, part in ((axes, canvas.box_rect()), ((canvas.box,), seen)):
                for item in hidden:
                    item.setOpacity(0)
                self._cuts.append(QRectF(part).translated(at))
                canvas.render(painter, self._cuts[-1], part)
                for item in hidden:
                    item.setOpacity(1)
            self._cuts.append(QRectF(QPointF(), self._size))
            painter.setClipRect(self._cuts[-1])
        canvas.setBackgroundBrush(ground)

    def _draw_beside(self, painter: QPainter, plot: Drawn, place: _Place) -> None:
        box = QRectF(plot.canvas.box_rect()).translated(place.canvas.topLeft())
        flags, strip = plot.flags(), plot.strip()
        left = box.right() + self._gap
        if flags:
            self._draw_flags(
                painter,
                QRectF(left, box.top(), place.beside - self._gap, place.canvas.bottom() - box.top()),
                flags,
                plot.symbols(),
            )
        elif strip is not None:
            # With large letters the bar is as much larger than that of the window.
            scale, canvas_box = self._bar_scale, plot.canvas.box_rect()
            high = QRect(0, 0, 1, round(canvas_box.height() / scale))
            shown, top = strip.beside(high)
            font = QFont(self._small)
            font.setPointSizeF(font.pointSizeF() / scale)
            shown.setFont(font)
            shown.histogram = None
            if self._words.bar is not None:
                shown.title = self._words.bar
            shown.resize(ceil((place.beside - self._gap) / scale) + 4, shown.height())
            painter.save()
            painter.translate(left, place.canvas.top() + canvas_box.top() + top * scale)
            painter.scale(scale, scale)
            shown.draw(painter)
            painter.restore()

    def _draw_swatch(self, painter: QPainter, place: QRectF, colour: QColor, symbol: str) -> None:
        """Draw the colour of a flag, or a line with its symbol."""
        painter.setBrush(colour)
        if symbol:
            painter.setPen(QPen(colour, 1.6))
            painter.drawLine(
                QPointF(place.left(), place.center().y()), QPointF(place.right(), place.center().y())
            )
            painter.save()
            painter.translate(place.center())
            drawSymbol(painter, symbol, place.height() * 0.55, mkPen(colour), mkBrush(colour))
            painter.restore()
        else:
            painter.setPen(QPen(QColor(self._appearance.colors.muted), 0.6))
            painter.drawRect(place)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _draw_flags(
        self,
        painter: QPainter,
        place: QRectF,
        flags: Sequence[tuple[list[int], str]],
        symbols: Sequence[str],
    ) -> None:
        at, width, height = place.topLeft(), place.width(), place.height()
        metrics = QFontMetricsF(self._small)
        line, side = metrics.height() * 1.25, metrics.ascent()
        room = max(1, min(_FLAGS, int(height / line)))
        listed = flags if len(flags) <= room else flags[: room - 1]
        for number, (colour, text) in enumerate(listed):
            top = at.y() + number * line
            swatch = QRectF(at.x(), top + (line - side) / 2, side, side)
            self._draw_swatch(painter, swatch, QColor(*colour), symbols[number] if symbols else "")
            words = QRectF(at.x() + side * 1.5, top, width - side * 1.5, line)
            self._draw_line(painter, words, text, self._small)
        if len(listed) < len(flags):
            words = QRectF(at.x() + side * 1.5, at.y() + len(listed) * line, width - side * 1.5, line)
            self._draw_line(painter, words, f"and {len(flags) - len(listed)} more", self._small)

    def _draw_failure(self, painter: QPainter, place: QRectF, why: str) -> None:
        """Draw the mark of what could not be read in the place of a plot, and say why."""
        painter.setPen(QPen(QColor(self._appearance.colors.fault), 1))
        painter.setBrush(state_brush(ChunkState.FAILED))
        painter.drawRect(place)
        metrics = QFontMetricsF(self._appearance.font)
        inside = place.adjusted(self._gap, self._gap, -self._gap, -self._gap)
        lines = self._wrapped(
            why.replace("\n", " "), self._appearance.font, inside.width() - self._gap, _CAPTION_LINES
        )
        height = metrics.lineSpacing() * len(lines) + self._gap
        words = QRectF(inside.left(), inside.center().y() - height / 2, inside.width(), height)
        painter.fillRect(words, QColor(self._appearance.colors.surface))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QColor(self._appearance.colors.fault))
        painter.setFont(self._appearance.font)
        painter.drawText(words, Qt.AlignmentFlag.AlignCenter, "\n".join(lines))

    def _draw_words(self, painter: QPainter) -> None:
        colors = self._appearance.colors
        metrics = QFontMetricsF(self._heading)
        left, room = self._gap, self._size.width() - 2 * self._gap
        top = self._gap
        for line in self._title_lines:
            self._draw_line(painter, QRectF(left, top, room, metrics.lineSpacing()), line, self._heading)
            top += metrics.lineSpacing()
        top = self._size.height() - self._gap - self._bottom
        losses = iter(self.losses())
        for number, (text, font, height) in enumerate(self._below_words):
            if text:
                place = QRectF(left, top, room, height)
                self._draw_line(painter, place, text, font, color=colors.muted)
            elif number and (loss := next(losses, None)) is not None:
                self._draw_loss(painter, QRectF(left, top, room, height), *loss)
            top += height

    def _draw_loss(self, painter: QPainter, place: QRectF, state: ChunkState | None, words: str) -> None:
        """Draw a sample of what stands for values that did not come, and what it is."""
        swatch = QRectF(place.left(), place.top() + 1, place.height() * 1.6, place.height() - 3)
        brush: QBrush = stale_brush() if state is None else state_brush(state)
        painter.setPen(QPen(QColor(self._appearance.colors.muted), 0.6))
        painter.setBrush(brush)
        painter.drawRect(swatch)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        beside = place.adjusted(swatch.width() + self._gap * 0.6, 0, 0, 0)
        self._draw_line(painter, beside, words, self._small)

    def _draw_line(
        self, painter: QPainter, place: QRectF, text: str, font: QFont, color: str | None = None
    ) -> None:
        painter.setFont(font)
        painter.setPen(QColor(color or self._appearance.colors.text))
        fitting = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, place.width() + 1)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextDontClip
        painter.drawText(place, flags, fitting)


def png_bytes(image: QImage) -> bytes:
    """Return an image as a PNG file; on any thread."""
    buffer = _buffer()
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())


def _figure_font(points: float) -> QFont:
    """Return the font of a figure: as wide on paper as on any screen."""
    family = QFontInfo(QFont("Sans Serif")).family()
    font = QFont(family)
    font.setStyleHint(QFont.StyleHint.SansSerif)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    font.setPointSizeF(points)
    return font


def _buffer() -> QBuffer:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    return buffer


def _trimmed(pdf: bytes, points: QSizeF, page: QSizeF) -> bytes:
    """Return a PDF file whose page is exactly so large; Qt gives it whole points.

    The new box is as long, in bytes, as the old one: the table at the end of the file tells where things are.
    """
    match = re.search(rb"/MediaBox \[[0-9. ]*\]", pdf)
    below = page.height() - points.height()
    if match is None:
        return pdf
    room = len(match[0])
    for digits in (5, 4, 3, 2):
        box = f"/MediaBox [0 {below:.{digits}f} {points.width():.{digits}f} {page.height():g}]".encode()
        if len(box) <= room:
            return pdf[: match.start()] + box.ljust(room) + pdf[match.end() :]
    return pdf


def _cut_by(svg: str, cuts: Sequence[QRectF]) -> str:
    """Return an SVG file in which these rectangles alone cut what is drawn, each until the next one does."""
    numbers = re.compile(r"-?[0-9.]+")
    known = set()
    for name, path in re.findall(r'<clipPath id="(\w+)">\s*<path [^>]* d="([^"]*)"', svg):
        sides = [float(number) for number in numbers.findall(path)][:6]
        box = (
            QRectF(QPointF(sides[0], sides[1]), QPointF(sides[2], sides[5])) if len(sides) == 6 else QRectF()
        )
        if any(
            abs(box.left() - cut.left()) < 1
            and abs(box.top() - cut.top()) < 1
            and abs(box.right() - cut.right()) < 1
            and abs(box.bottom() - cut.bottom()) < 1
            for cut in cuts
        ):
            known.add(name)
    last = ""

    def replaced(match: re.Match[str]) -> str:
        nonlocal last
        if match[1] in known:
            last = match[0]
        return last or "<g>"

    return re.sub(r'<g clip-path="url\(#(\w+)\)">', replaced, svg)


def _sized(svg: str, inches: tuple[float, float], family: str) -> str:
    """Return an SVG file with its exact size, and with other fonts for those who lack ours."""
    width, height = (f"{side * 25.4:.6g}mm" for side in inches)
    svg = re.sub('width="[^"]*mm" height="[^"]*mm"', f'width="{width}" height="{height}"', svg, count=1)
    fonts = f"font-family=\"'{family}', Helvetica, Arial, sans-serif\""
    # What XML has no characters for, Qt writes as it is.
    return _NO_XML.sub("·", svg.replace(f'font-family="{family}"', fonts))
