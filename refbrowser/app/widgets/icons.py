"""The window's icons, drawn as strokes in the colours of the theme."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPainterPath, QPen, QPixmap

from refbrowser.app.widgets import theme

#: Strokes on a grid of 16 by 16: ``M x y`` moves, ``L x y`` draws a line, ``Z`` closes, ``O x y r`` is a
#: circle, ``R x y w h`` a rectangle with round corners, ``C x1 y1 x2 y2 x y`` a curve.
_STROKES = {
    "open": "M 1.5 12.5 L 1.5 3.5 L 6 3.5 L 7.5 5.5 L 13 5.5 L 13 7 M 1.5 12.5 L 4 7 L 15 7 L 12.8 12.5 Z",
    "url": "O 8 8 6 M 2 8 L 14 8 M 8 2 C 5 5 5 11 8 14 M 8 2 C 11 5 11 11 8 14",
    "globe": "O 8 8 6 M 2 8 L 14 8 M 8 2 C 4 4.5 4 11.5 8 14 M 8 2 C 12 4.5 12 11.5 8 14 "
    "M 3.2 4.8 L 12.8 4.8 M 3.2 11.2 L 12.8 11.2",
    "save": "M 2.5 2.5 L 11 2.5 L 13.5 5 L 13.5 13.5 L 2.5 13.5 Z M 5 2.5 L 5 6 L 10 6 L 10 2.5 "
    "R 4.7 9 6.6 4.5",
    "undo": "M 5.5 3 L 2.5 6 L 5.5 9 M 2.5 6 L 10 6 C 14.5 6 14.5 13 10 13 L 6 13",
    "redo": "M 10.5 3 L 13.5 6 L 10.5 9 M 13.5 6 L 6 6 C 1.5 6 1.5 13 6 13 L 10 13",
    "revert": "M 3 8 C 3 1.2 13 1.2 13 8 C 13 14.8 5 14.5 3.8 11 M 0.8 6 L 3 8.4 L 5.4 6",
    "export": "M 8 10 L 8 2 M 5 5 L 8 2 L 11 5 M 2.5 9.5 L 2.5 13.5 L 13.5 13.5 L 13.5 9.5",
    "document": "M 3.5 1.5 L 9.5 1.5 L 12.5 4.5 L 12.5 14.5 L 3.5 14.5 Z M 9.5 1.5 L 9.5 4.5 L 12.5 4.5 "
    "M 6 7.5 L 10 7.5 M 6 10.5 L 10 10.5",
    "set": "M 5.5 1.5 L 10.5 1.5 L 13.5 4.5 L 13.5 11.5 L 5.5 11.5 Z M 10.5 1.5 L 10.5 4.5 L 13.5 4.5 "
    "M 2.5 4.5 L 2.5 14.5 L 10.5 14.5",
    "group": "M 1.5 12.5 L 1.5 3.5 L 6 3.5 L 7.5 5.5 L 14.5 5.5 L 14.5 12.5 Z",
    "array": "R 2 2 12 12 M 6 2 L 6 14 M 10 2 L 10 14 M 2 6 L 14 6 M 2 10 L 14 10",
    "structure": "R 1.5 2 13 12 M 1.5 5.6 L 14.5 5.6 M 6 2 L 6 14 M 10.5 5.6 L 10.5 14",
    "sequence": "M 1.5 14 L 1.5 2 L 14.5 2 L 14.5 9 M 1.5 5.6 L 14.5 5.6 M 6 2 L 6 14 M 1.5 9.6 L 9 9.6 "
    "M 9 13.2 L 9.6 13.2 M 11.5 13.2 L 12.1 13.2 M 14 13.2 L 14.6 13.2",
    "ragged": "R 1.5 2 6 2.8 R 1.5 6.6 13 2.8 R 1.5 11.2 9 2.8",
    "option": "O 8 8 6 M 6 6.4 C 6 3.6 10 3.6 10 6.2 C 10 7.8 8 7.8 8 9.4 M 8 11.4 L 8 11.8",
    "union": "O 5.8 8 4.2 O 10.2 8 4.2",
    "link": "M 2.5 13.5 C 2.5 7.5 6 5.5 13 5.5 M 9.5 2 L 13.2 5.5 L 9.5 9",
    "linked": "M 9 4.5 L 10.5 3 C 13 0.8 16 4 13.5 6.5 L 11 9 C 9.5 10.5 7.5 10 6.8 8.8 "
    "M 7 11.5 L 5.5 13 C 3 15.2 0 12 2.5 9.5 L 5 7 C 6.5 5.5 8.5 6 9.2 7.2",
    "buffer": "R 1.5 5 13 6 M 5.2 5 L 5.2 11 M 8 5 L 8 11 M 10.8 5 L 10.8 11",
    "function": "M 10.5 2.5 C 7 1.5 7.5 5 7 8 C 6.5 11 7 14.5 3.5 13.5 M 4.5 6.5 L 10 6.5 "
    "M 10 9.5 L 13.5 13.5 M 13.5 9.5 L 10 13.5",
    "text": "M 3 4.5 L 3 2.5 L 13 2.5 L 13 4.5 M 8 2.5 L 8 13.5 M 6 13.5 L 10 13.5",
    "line": "M 2 2 L 2 14 L 14 14 M 4 11 C 6 4 8 4 9.5 8 C 10.5 11 12 10 14 4",
    "scalar": "O 8 8 2.6",
    "coordinate": "M 1.5 11 L 14.5 11 M 2 5.5 L 2 11 M 6 8 L 6 11 M 10 8 L 10 11 M 14 5.5 L 14 11",
    "dimension": "M 2 8 L 14 8 M 5 5 L 2 8 L 5 11 M 11 5 L 14 8 L 11 11",
    "templates": "M 6 2 C 3 2 5 7.5 2.5 8 C 5 8.5 3 14 6 14 M 10 2 C 13 2 11 7.5 13.5 8 C 11 8.5 13 14 10 14",
    "rules": "M 6 3.5 L 14 3.5 M 6 8 L 14 8 M 6 12.5 L 14 12.5 O 2.7 3.5 1 O 2.7 8 1 O 2.7 12.5 1",
    "key": "O 5 8 3 M 8 8 L 14.5 8 L 14.5 11 M 12 8 L 12 10.5",
    "lock": "R 3 7 10 7 M 5 7 L 5 5 C 5 1 11 1 11 5 L 11 7",
    "fault": "O 8 8 6.3 M 8 4.5 L 8 9 M 8 11 L 8 11.6",
    "warning": "M 8 2 L 14.5 13.5 L 1.5 13.5 Z M 8 6.5 L 8 9.8 M 8 11.3 L 8 11.8",
    "info": "O 8 8 6.3 M 8 7.5 L 8 11.5 M 8 4.6 L 8 5.2",
    "done": "M 3 8.5 L 6.5 12 L 13 4.5",
    "cancel": "M 4 4 L 12 12 M 12 4 L 4 12",
    "search": "O 7 7 4.5 M 10.4 10.4 L 14 14",
    "retry": "M 13 8 C 13 14.8 3 14.8 3 8 C 3 1.2 11 1.5 12.2 5 M 15.2 10 L 13 7.6 L 10.6 10",
    "copy": "R 5.5 5.5 8 8.5 M 10.5 5.5 L 10.5 2.5 L 2.5 2.5 L 2.5 11 L 5.5 11",
    "add": "M 8 3 L 8 13 M 3 8 L 13 8",
    "drop": "M 8 1.5 L 8 9.5 M 4.8 6.5 L 8 9.7 L 11.2 6.5 M 2 10 L 2 14 L 14 14 L 14 10",
    "hex": "M 8 1.5 L 13.8 4.8 L 13.8 11.2 L 8 14.5 L 2.2 11.2 L 2.2 4.8 Z",
    "log": "M 2 2 L 2 14 L 14 14 M 3.5 13 C 4 7 7 4.5 14 3.5",
    "histogram": "M 1.5 14 L 14.5 14 M 3 14 L 3 9.5 L 6.3 9.5 M 6.3 14 L 6.3 4 L 9.7 4 L 9.7 14 "
    "M 9.7 7.5 L 13 7.5 L 13 14",
    "aspect": "R 2 2 12 12 M 5 11 L 11 5 M 8 5 L 11 5 L 11 8 M 5 8 L 5 11 L 8 11",
    "play": "M 4.5 2.5 L 13 8 L 4.5 13.5 Z",
    "pause": "M 5 3 L 5 13 M 11 3 L 11 13",
    "backwards": "M 14 5 L 2.5 5 M 5.5 2 L 2.5 5 L 5.5 8 M 2 12 L 8 12",
    "profile": "R 1.5 1.5 13 13 M 4 11.5 L 12 4.5 O 4 11.5 1.2 O 12 4.5 1.2",
    "series": "M 2 2 L 2 14 L 14 14 M 4 10 L 7 6.5 L 10 9 L 13.5 4 O 7 6.5 1.3 O 10 9 1.3",
    "region": "M 3.5 11 L 5 4 L 12 5 L 12.5 12 Z O 3.5 11 1.2 O 5 4 1.2 O 12 5 1.2 O 12.5 12 1.2",
    "rectangle": "R 2 4 12 8",
    "polygon": "M 2.5 12.5 L 4 3.5 L 9 6.5 L 13.5 3.5 L 13 13 Z",
    "way": "M 2 13 L 5.5 5 L 10 9.5 L 14 3 O 5.5 5 1.4 O 10 9.5 1.4",
    "settings": "M 2 4 L 14 4 M 2 8 L 14 8 M 2 12 L 14 12 O 5 4 1.5 O 11 8 1.5 O 6 12 1.5",
}
_GRID = 16.0
_ARGUMENTS = {"M": 2, "L": 2, "Z": 0, "O": 3, "R": 4, "C": 6}


def names() -> tuple[str, ...]:
    """Return the names of all icons."""
    return tuple(_STROKES)


def icon(name: str, color: str | None = None, badge: str | None = None) -> QIcon:
    """Return an icon in a colour (that of text when None), with a small mark at its corner or none."""
    scheme = theme.colors()
    screen = QGuiApplication.primaryScreen()
    ratio = screen.devicePixelRatio() if screen is not None else 1.0
    return _icon(name, color or scheme.text, badge, scheme.fault, scheme.surface, ratio)


def pixmap(name: str, size: int, color: str | None = None, ratio: float = 2.0) -> QPixmap:
    """Return an icon as a picture of `size` device independent pixels."""
    return _drawn(name, size, ratio, color or theme.colors().text)


@cache
def _icon(name: str, color: str, badge: str | None, badge_color: str, ground: str, ratio: float) -> QIcon:
    result = QIcon()
    picture = _drawn(name, 16, ratio, color)
    if badge is not None:
        picture = picture.copy()
        _draw_badge(picture, 16, badge_color, ground)
    result.addPixmap(picture)
    return result


@cache
def _drawn(name: str, size: int, ratio: float, color: str) -> QPixmap:
    picture = QPixmap(round(size * ratio), round(size * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(size / _GRID, size / _GRID)
    pen = QPen(QColor(color), 1.25)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.drawPath(path(_STROKES[name]))
    painter.end()
    return picture


def _draw_badge(picture: QPixmap, size: int, color: str, ground: str) -> None:
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(size / _GRID, size / _GRID)
    painter.setPen(QPen(QColor(ground), 1.2))
    painter.setBrush(QColor(color))
    painter.drawEllipse(QPointF(11.5, 11.5), 4.2, 4.2)
    pen = QPen(QColor(ground), 1.4)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    painter.drawLine(QPointF(11.5, 9.4), QPointF(11.5, 11.9))
    painter.drawPoint(QPointF(11.5, 13.6))
    painter.end()


def path(strokes: str) -> QPainterPath:
    """Return strokes in the small language above as a path on the grid of 16 by 16."""
    result = QPainterPath()
    tokens = strokes.split()
    place = 0
    while place < len(tokens):
        command = tokens[place]
        count = _ARGUMENTS[command]
        n = [float(token) for token in tokens[place + 1 : place + 1 + count]]
        place += 1 + count
        if command == "M":
            result.moveTo(*n)
        elif command == "L":
            result.lineTo(*n)
        elif command == "C":
            result.cubicTo(*n)
        elif command == "O":
            result.addEllipse(QPointF(n[0], n[1]), n[2], n[2])
        elif command == "R":
            result.addRoundedRect(QRectF(*n), 1.5, 1.5)
        else:
            result.closeSubpath()
    return result
