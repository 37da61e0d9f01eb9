"""Draws the frames of a film one by one, each in slices between which the window goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import ceil
from queue import Empty, Full, Queue

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, QRectF, Signal
from PySide6.QtGui import QImage

from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.tools.figure.figure_report import FigureReport
from refbrowser.tools.figure.window.figure_drawing import FigureDrawing
from refbrowser.tools.figure.window.figure_plot import LOST, FigurePlot
from refbrowser.views.figures.figure_form import FigureForm, FigureWords
from refbrowser.views.figures.figure_size import check_size
from refbrowser.views.figures.film_plan import FilmLevels, FilmPlan
from refbrowser.views.plot.levels import Levels

#: Frames that wait to be written.
_WAITING = 3
#: Pixels that are drawn at once; then the window has its turn.
_SLICE = 400_000
#: Milliseconds until it is looked again whether a frame can be handed on.
_PAUSE = 5
#: Seconds that the writer waits for a frame before it looks whether it was cancelled.
_WAIT = 0.1


@dataclass(frozen=True, slots=True)
class DrawnFrame:
    """A frame as Qt drew it; on any thread."""

    image: QImage

    def rgb(self) -> npt.NDArray[np.uint8]:
        """Return its pixels, shape (height, width, 3)."""
        image = self.image
        pixels = np.frombuffer(image.constBits(), np.uint8).reshape(
            image.height(), image.bytesPerLine() // 4, 4
        )
        # Blue comes first on the machines that there are.
        return pixels[:, : image.width(), 2::-1]


class FilmRecorder(QObject):
    """Draws all frames of a plan.

    Parameters
    ----------
    plot
        What is shown; it has come.

    Signals
    -------
    began(object)
        The first frame is laid out: a `FigureReport` of it.
    ended()
        All frames are drawn, or it was stopped.
    """

    began = Signal(object)
    ended = Signal()

    def __init__(
        self, plot: FigurePlot, plan: FilmPlan, form: FigureForm, words: FigureWords, parent: QObject | None
    ) -> None:
        super().__init__(parent)
        self._plot, self._plan, self._form, self._words = plot, plan, form, words
        self._held = ExitStack()
        self._queue: Queue[DrawnFrame | BaseException | None] = Queue(_WAITING)
        self._drawing: FigureDrawing | None = None
        self._image: QImage | None = None
        self._top = 0
        self._number = 0
        self._is_measuring = plan.levels is FilmLevels.ALL
        self._measured: list[Levels] = []
        self.is_stopped = self._is_started = False
        #: Frames of which something could not be read.
        self.failed: list[int] = []
        self.losses: dict[str, None] = {}
        self._again = one_shot(self, 0, self._draw_slice)
        self._hand_on = one_shot(self, _PAUSE, self._put)
        #: What is handed on after the last frame: why it ends, None where all is drawn.
        self._last: BaseException | None = None
        self._ending = one_shot(self, _PAUSE, self._end)

    # What the writer does, on its thread

    def frames(self, token: CancelToken) -> Iterator[DrawnFrame]:
        """Yield the frames as they are drawn.

        Raises
        ------
        Cancelled
            Nobody waits for the film any more.
        """
        while True:
            token.check()
            try:
                frame = self._queue.get(timeout=_WAIT)
            except Empty:
                continue
            if frame is None:
                return
            if isinstance(frame, BaseException):
                raise frame
            yield frame

    # What is drawn

    def start(self) -> None:
        """Begin."""
        self._plot.ready.connect(self._ready)
        self._is_started = True
        if self._plan.levels is FilmLevels.SHOWN:
            self._plot.hold_levels()
        self._go_to(0)

    def stop(self) -> None:
        """Draw nothing more."""
        if not self.is_stopped:
            self.is_stopped = True
            self._again.stop()
            self._hand_on.stop()
            self._ending.stop()
            self._held.close()
            if self._is_started:
                self._plot.ready.disconnect(self._ready)
            self.ended.emit()

    def _go_to(self, number: int) -> None:
        self._number = number
        self._plot.set_index(self._plan.dimension, self._plan.indices[number])

    def _ready(self) -> None:
        if self._is_measuring:
            self._measure()
            return
        if self._plan.levels is FilmLevels.EACH:
            self._plot.pane.look().auto_levels()
        try:
            self._lay_out()
        except RefbrowserError as error:
            self._last = error
            self._end()
            return
        assert self._drawing is not None
        told = self._drawing.losses()
        self.losses.update(dict.fromkeys(words.partition(" (")[0] for _state, words in told))
        states = {state for state, _words in told}
        if states & LOST or not self._plot.is_drawn:
            self.failed.append(self._number)
        self._image, self._top = self._drawing.blank(), 0
        self._again.start()

    def _measure(self) -> None:
        """Take the levels that a frame would have by itself; after the last one, hold those of all."""
        levels = self._plot.own_levels()
        if levels is not None:
            self._measured.append(levels)
        if self._number + 1 < len(self._plan.indices):
            self._go_to(self._number + 1)
            return
        self._is_measuring = False
        if self._measured:
            low, high = min(one.low for one in self._measured), max(one.high for one in self._measured)
            self._plot.pane.look().set_levels(replace(self._measured[0], low=low, high=high))
        self._go_to(0)

    def _lay_out(self) -> None:
        """Lay out the first frame; the others have the same places, and other words."""
        if self._drawing is not None:
            self._drawing.rewrite()
            return
        drawing = FigureDrawing([self._plot], self._form, self._words, spare_lines=1)
        size = drawing.pixels
        check_size(*drawing.inches, self._form.dpi, len(self._plan.indices))
        self._drawing = drawing
        self._held.enter_context(drawing.held())
        self.began.emit(
            FigureReport(
                size=drawing.inches,
                pixels=(size.width(), size.height()),
                title=drawing.title,
                caption=drawing.caption,
                frames=len(self._plan.indices),
            )
        )

    def _draw_slice(self) -> None:
        """Draw some rows of the frame."""
        image, drawing = self._image, self._drawing
        assert image is not None
        assert drawing is not None
        rows = max(1, ceil(_SLICE / image.width()))
        drawing.paint(image, QRectF(0, self._top, image.width(), min(rows, image.height() - self._top)))
        self._top += rows
        if self._top < image.height():
            self._again.start()
        else:
            self._put()

    def _put(self) -> None:
        """Hand the frame on, as soon as the writer takes one more."""
        assert self._image is not None
        try:
            self._queue.put_nowait(DrawnFrame(self._image))
        except Full:
            self._hand_on.start()
            return
        if self._number + 1 < len(self._plan.indices):
            self._go_to(self._number + 1)
        else:
            self._end()

    def _end(self) -> None:
        try:
            self._queue.put_nowait(self._last)
        except Full:
            # The writer takes one soon.
            self._ending.start()
            return
        self.stop()
