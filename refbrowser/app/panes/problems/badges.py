"""How many problems a row of the tree has, painted beside its detail: a glyph and a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter

from refbrowser.app.widgets import icons, theme
from refbrowser.engine.problems.problem import Badge
from refbrowser.views.words import count_text

if TYPE_CHECKING:
    from refbrowser.app.panes.hierarchy_model import Item

_GLYPH, _GAP = 12, 3


def badge_of(item: Item) -> Badge:
    """Return how many problems an item of the tree has, with all that is below it."""
    is_list = str(item.kind) in ("document", "templates", "rules")
    return item.document.problems.found.badge((str(item.kind), "" if is_list else item.place))


def badge_words(badge: Badge) -> str:
    """Return the number of problems in words; nothing where there are none."""
    parts = [
        f"{count_text(number)} {word}{'' if number == 1 else 's'}"
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
