"""How many findings a row of the tree has, painted and in words."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter

from refbrowser.app.widgets import icons, theme
from refbrowser.engine.findings.listed_finding import Badge
from refbrowser.words import counted_spaced

_GLYPH, _GAP = 12, 3


def badge_words(badge: Badge) -> str:
    """Return the number of findings in words; nothing where there are none."""
    parts = [
        counted_spaced(number, word)
        for number, word in ((badge.faults, "fault"), (badge.warnings, "warning"))
        if number
    ]
    return ", ".join(parts)


def badge_width(badge: Badge, metrics: QFontMetrics) -> int:
    """Return the room that a badge takes, with the gap to what stands right of it."""
    text = _number(badge)
    return _GLYPH + _GAP + metrics.horizontalAdvance(text) + theme.MEDIUM if text else 0


def paint_badge(painter: QPainter, area: QRect, badge: Badge, font: QFont) -> None:
    """Paint a badge at the left edge of an area: the faults where there are some, else the warnings."""
    text = _number(badge)
    if not text:
        return
    scheme = theme.colors()
    name, color = ("fault", scheme.fault) if badge.faults else ("warning", scheme.warning)
    painter.save()
    ratio = painter.device().devicePixelRatioF() if painter.device() is not None else 1.0
    top = area.top() + (area.height() - _GLYPH) / 2
    painter.drawPixmap(QPointF(area.left(), top), icons.pixmap(name, _GLYPH, color, ratio))
    painter.setFont(font)
    painter.setPen(QColor(color))
    box = area.adjusted(_GLYPH + _GAP, 0, 0, 0)
    painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
    painter.restore()


def _number(badge: Badge) -> str:
    number = badge.faults or badge.warnings
    return "" if not number else "999+" if number > 999 else str(number)
