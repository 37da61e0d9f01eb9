"""An axis that shows the coordinates of a dimension."""

from __future__ import annotations

from html import escape
from math import log10

from pyqtgraph import AxisItem, mkPen
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication

from refbrowser.app.widgets import theme
from refbrowser.views.numbers import log_ticks
from refbrowser.views.plot.coordinates import AxisScale, plain_coordinate

#: Free space between tick texts, in pixels.
_GAP = 22
_LONGEST_TEXT = 20
_LONGEST_LABEL = 100
#: Left free beside a label, in pixels.
_LABEL_MARGIN = 12
#: Tick texts may reach so far beyond the ends of the axis, in pixels.
_OVERHANG = 40


class CoordinateAxis(AxisItem):
    """Ticks at round coordinate values, wherever these lie among the cells or points."""

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation, maxTickLength=5)
        self.enableAutoSIPrefix(False)
        self.scale_shown: AxisScale | None = AxisScale(plain_coordinate("", 0))
        #: Whether positions are decimal logarithms of plain numbers.
        self.log = False
        self._named = ""
        self._texts: dict[float, str] = {}
        self.setStyle(tickTextOffset=5, autoExpandTextSpace=True, hideOverlappingLabels=_OVERHANG)
        self.restyle()
        self.geometryChanged.connect(self._fit_label)

    @property
    def is_vertical(self) -> bool:
        """Whether it stands at the side."""
        return self.orientation in ("left", "right")

    def restyle(self) -> None:
        """Take colours and fonts of the theme."""
        colors = theme.colors()
        font = QApplication.font()
        font.setPointSizeF(max(7.0, font.pointSizeF() - 0.5))
        self.setTickFont(font)
        self.setTickPen(mkPen(colors.muted))
        self.setTextPen(mkPen(colors.muted))
        self.label.setFont(font)
        self.labelStyle = {"font-size": f"{font.pointSizeF()}pt"}
        self.set_line(colors.border)

    def set_line(self, color: str) -> None:
        """Draw the line of the axis in a colour; the library would give the label the same one."""
        self.setPen(mkPen(color))
        self.labelStyle["color"] = theme.colors().text
        self.setLabel(self.labelText, **self.labelStyle)

    def set_scale(self, scale: AxisScale | None, label: str, log: bool = False) -> None:
        """Show a dimension; None for plain numbers, or with `log` for their decimal logarithms."""
        if (scale, label, log) == (self.scale_shown, self._named, self.log):
            return
        self.scale_shown, self._named, self.log = scale, label, log
        self.setLabel(self._fitted(), **self.labelStyle)
        self.picture = None
        self.update()

    def _fit_label(self) -> None:
        fitted = self._fitted()
        if fitted != self.labelText:
            self.setLabel(fitted, **self.labelStyle)

    def _fitted(self) -> str:
        """Return the label, cut to the length of the axis so that its units stay."""
        label = " ".join(self._named.split())
        name, bracket, units = label.rpartition(" [")
        if not bracket or len(units) > _LONGEST_LABEL // 2:
            name, bracket, units = label, "", ""
        metrics = QFontMetricsF(self.style["tickFont"])
        length = self.size().height() if self.is_vertical else self.size().width()
        room = length - metrics.horizontalAdvance(bracket + units) - _LABEL_MARGIN
        if length > 0:
            name = metrics.elidedText(name, Qt.TextElideMode.ElideRight, max(room, _LABEL_MARGIN))
        # The library shows labels as HTML; names and units come from files.
        return escape(name[:_LONGEST_LABEL] + bracket + units)

    def tickValues(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, list[float]]]:
        metrics = QFontMetricsF(self.style["tickFont"])
        if self.log:
            low, high = (10.0 ** max(-300.0, min(300.0, end)) for end in sorted((minVal, maxVal)))
            ticks = log_ticks(low, high, max(2, int(size / (metrics.height() * 2))))
            self._texts = {log10(value): text for value, text in ticks}
            return [(1.0, list(self._texts))]
        if self.scale_shown is None:
            return super().tickValues(minVal, maxVal, size)[:1]
        count = max(2, int(size / (metrics.height() * 2.6 if self.is_vertical else metrics.height() * 4.5)))
        while True:
            ticks = self.scale_shown.ticks(minVal, maxVal, count)
            if self.is_vertical or count <= 2 or not ticks:
                break
            widest = max(metrics.horizontalAdvance(text) for _, text in ticks) + _GAP
            if widest * len(ticks) <= size * 1.05:
                break
            count = max(2, min(count - 1, int(size / widest)))
        self._texts = dict(ticks)
        return [(1.0, [position for position, _text in ticks])]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        if self.scale_shown is None and not self.log:
            return [
                text.replace("-", "\N{MINUS SIGN}") for text in super().tickStrings(values, scale, spacing)
            ]
        return [_cut(self._texts.get(value, "")) for value in values]

    def tick_texts(self) -> list[str]:
        """Return the texts of the ticks drawn last."""
        return list(self._texts.values())


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
