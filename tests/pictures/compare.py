"""How much two pictures differ: the share of small squares whose colour is another one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QImage

#: Pixels of a square's side, and how far its mean colour may be off in one channel (of 255).
SIDE, CLOSE = 8, 10.0


def pixels(image: QImage) -> npt.NDArray[np.uint8]:
    """Return height, width and red, green, blue of a picture."""
    image = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    # A copy: the bytes are gone with the image.
    return rows[:, : image.width() * 3].reshape(image.height(), image.width(), 3).copy()


def squares(image: QImage) -> npt.NDArray[np.float64]:
    """Return the mean colour of each square; what is left at the edges is cut."""
    values = pixels(image)
    rows, columns = values.shape[0] // SIDE, values.shape[1] // SIDE
    cut = values[: rows * SIDE, : columns * SIDE].reshape(rows, SIDE, columns, SIDE, 3)
    return cut.mean((1, 3))


def difference(one: QImage, other: QImage) -> float:
    """Return the share of squares that differ; 1 where the sizes do."""
    if one.size() != other.size():
        return 1.0
    off = np.abs(squares(one) - squares(other)).max(-1) > CLOSE
    return float(off.mean())


def marked(one: QImage, other: QImage) -> QImage:
    """Return `one` with a frame around what differs, to look at."""
    from PySide6.QtCore import QRect
    from PySide6.QtGui import QColor, QPainter

    result = one.convertToFormat(QImage.Format.Format_RGB888)
    if one.size() != other.size():
        return result
    painter = QPainter(result)
    painter.setPen(QColor("#ff00ff"))
    for row, column in np.argwhere(np.abs(squares(one) - squares(other)).max(-1) > CLOSE).tolist():
        painter.drawRect(QRect(column * SIDE, row * SIDE, SIDE, SIDE))
    painter.end()
    return result
