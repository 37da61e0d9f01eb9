"""Animation: the slider of one dimension moves by itself, each frame as soon as it is due and there."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QHBoxLayout, QWidget

from refbrowser.app.plot.reader import AHEAD_OF_FRAME, HOLD, read_ahead
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.small_widgets import plain_label, tool_button
from refbrowser.views.plot.plan import AHEAD, Course, Ending, Tempo, plans_ahead

if TYPE_CHECKING:
    from refbrowser.app.plot.presenter import Presenter
    from refbrowser.app.plot.reader import PlotSource
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.views.plot.slicing import SliceState


#: Frames per second: at first, at least and at most.
SPEED, SLOWEST, FASTEST = 10.0, 0.5, 60.0
#: A frame that is not there yet is waited for, the one before it stays so long, in seconds.
PATIENCE = 20.0


class Animation(QObject):
    """Plays the slices along a dimension; no frame is left out, however long it takes to come.

    Signals
    -------
    changed()
        It plays from now on, or no longer, or plays otherwise.
    frameShown()
        A frame is on the screen.
    """

    changed = Signal()
    frameShown = Signal()

    def __init__(self, presenter: Presenter, parent: QObject) -> None:
        super().__init__(parent)
        self._presenter, self._subject, self._stage = presenter, presenter.subject, presenter.stage
        self.dimension: int | None = None
        self.is_playing = False
        self.speed = SPEED
        self.ending = Ending.LOOP
        self.step = 1
        self.tempo = Tempo()
        self._course = Course(1)
        self._played: tuple[PlotSource, ArrayNode, tuple[int, ...]] | None = None
        self._due = 0.0
        #: The frame that was asked for and is not on the screen yet; and the one that is to be read first.
        self._wanted: int | None = None
        self._held: int | None = None
        #: Chunks along the dimension: that were read ahead, and that are being read.
        self._ahead: set[int] = set()
        self._reading: set[int] = set()
        self._ahead_reads = Latest(self, AHEAD_OF_FRAME)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._advance)
        presenter.changed.connect(self._follow)

    # Playing

    def play(self, dimension: int | None = None) -> None:
        """Play along a dimension; None: the one whose slider is in use."""
        subject = self._subject
        document, node, state = subject.document, subject.node, subject.slice
        wanted = self._presenter.stepped if dimension is None else dimension
        if document is None or node is None or state is None or wanted not in state.sliders:
            return
        if state.shape[wanted] < 2:
            return
        self.pause()
        self.dimension, self.is_playing = wanted, True
        self._stage.settled.connect(self._settled)
        self._played = document, node, state.axes
        self._course = Course(state.shape[wanted], self.ending, self.step)
        self.tempo.forget()
        self._due = time.monotonic()
        self._presenter.loader.hold, self._presenter.is_animated = PATIENCE, True
        first = self._course.begin(state.indices[wanted])
        if first != state.indices[wanted]:
            self._show(first)
        else:
            self._due += 1 / self.speed
            self._read_ahead(state)
            self._timer.start(0)
        self.changed.emit()

    def pause(self) -> None:
        """Stay where it is."""
        if not self.is_playing:
            return
        self.is_playing = False
        self._stage.settled.disconnect(self._settled)
        self._timer.stop()
        self._wanted = self._held = None
        self._presenter.loader.hold, self._presenter.is_animated = HOLD, False
        self._ahead_reads.cancel()
        self._ahead.clear()
        self._reading.clear()
        self._played = None
        self.changed.emit()

    def toggle(self, dimension: int | None = None) -> None:
        """Play or pause; another dimension than the one that plays takes its place."""
        if self.is_playing and dimension in (None, self.dimension):
            self.pause()
        else:
            self.play(dimension)

    def set_speed(self, speed: float) -> None:
        """Show so many frames per second, if they come that quickly."""
        self.speed = max(SLOWEST, min(FASTEST, speed))
        self.tempo.forget()
        self._due = min(self._due, time.monotonic() + 1 / self.speed)
        self._go_on()
        self.changed.emit()

    def set_ending(self, ending: Ending) -> None:
        """Do something else at the last frame."""
        self.ending = ending
        self._change_course()

    def set_step(self, step: int) -> None:
        """Play forwards (1) or backwards (-1)."""
        self.step = step
        self._change_course()

    def _change_course(self) -> None:
        self._course = Course(self._course.size, self.ending, self.step)
        self.changed.emit()

    # Frames

    def _go_on(self) -> None:
        """Show the next frame when it is due."""
        if self.is_playing and self._wanted is None:
            self._timer.start(max(0, round((self._due - time.monotonic()) * 1000)))

    def _advance(self) -> None:
        state = self._subject.slice
        if not self.is_playing or state is None or self.dimension is None or self._played is None:
            return
        left = self._due - time.monotonic()
        if left > 0.002:
            self._timer.start(round(left * 1000))
            return
        if not self._stage.is_settled:
            # The user moved a slider: that picture comes first.
            self._wanted = state.indices[self.dimension]
            return
        following = self._course.after(state.indices[self.dimension])
        if following is None:
            self.pause()
            return
        index, course = following
        if self._chunk(index) in self._reading:
            # It is on its way: asked for again it would be read twice.
            self._held = index
            return
        self._held = None
        self._course = course
        self._show(index)

    def _show(self, index: int) -> None:
        assert self.dimension is not None
        self._wanted = index
        self._presenter.set_index(self.dimension, index)

    def _settled(self) -> None:
        state = self._subject.slice
        if not self.is_playing or self._wanted is None or state is None or self.dimension is None:
            return
        picture = self._presenter.loader.current
        if not self._stage.shows_picture or picture is None or picture.error is not None:
            # A question, a failure, or cancelled by the user.
            self.pause()
            return
        now = time.monotonic()
        self.tempo.note(now)
        self._wanted = None
        # A late frame does not make the ones after it hurry.
        self._due = max(self._due + 1 / self.speed, now)
        self._read_ahead(state)
        self._go_on()
        self.frameShown.emit()

    # Reading ahead

    def _chunk(self, index: int) -> int:
        node = self._subject.node
        assert node is not None
        assert self.dimension is not None
        return node.grid.dimensions[self.dimension].chunk_of(index)

    def _read_ahead(self, state: SliceState) -> None:
        document, node = self._subject.document, self._subject.node
        if self._reading or document is None or node is None or self.dimension is None:
            return
        upcoming = self._course.upcoming(state.indices[self.dimension], AHEAD)
        self._ahead &= {self._chunk(index) for index in upcoming}
        plans = [
            (number, plan)
            for number, plan in plans_ahead(node, state, self.dimension, upcoming)
            if number not in self._ahead
        ]
        if plans:
            self._reading = {number for number, _plan in plans}
            read_ahead(self._ahead_reads, document, node, plans, self._came, self._ahead_ended)

    def _came(self, number: int) -> None:
        self._reading.discard(number)
        self._ahead.add(number)
        self._release()

    def _ahead_ended(self) -> None:
        self._reading.clear()
        self._release()

    def _release(self) -> None:
        if self._held is not None and self._chunk(self._held) not in self._reading:
            self._advance()

    # Following the plot

    def _follow(self) -> None:
        """End with the array, its document or its axes."""
        subject = self._subject
        if self._played is None:
            return
        document, node, axes = self._played
        state = subject.slice
        if (
            subject.document is not document
            or subject.node is not node
            or state is None
            or state.axes != axes
        ):
            self.pause()


#: A speed below this part of the one that is wanted is worth a word.
_SLOW = 0.8
_ENDINGS = {Ending.LOOP: "Loop", Ending.BOUNCE: "Back and forth", Ending.ONCE: "Once"}


class AnimationBar(QWidget):
    """Drives one animation; hidden before it first plays."""

    def __init__(self, animation: Animation, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("animationBar")
        self._animation = animation
        self.play = tool_button("animationPlay", "Play")
        self.backwards = tool_button("animationBackwards", "Play backwards")
        self.backwards.setCheckable(True)
        self.speed = QDoubleSpinBox()
        self.speed.setObjectName("animationSpeed")
        self.speed.setAccessibleName("Frames per second")
        self.speed.setToolTip("Frames per second")
        self.speed.setRange(SLOWEST, FASTEST)
        self.speed.setDecimals(1)
        self.speed.setSuffix(" frames/s")
        self.speed.setKeyboardTracking(False)
        self.speed.setValue(animation.speed)
        self.speed.setFixedWidth(self.speed.sizeHint().width() + theme.MEDIUM)
        self.ending = QComboBox()
        self.ending.setObjectName("animationEnding")
        self.ending.setAccessibleName("At the last frame")
        self.ending.setToolTip("What happens at the last frame")
        for ending, title in _ENDINGS.items():
            self.ending.addItem(title, ending)
        self.reached = plain_label("", role="muted", wrap=False)
        self.reached.setObjectName("animationReached")
        self.close_ = tool_button("animationClose", "Stop and hide the animation")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SMALL)
        for widget in (self.play, self.backwards, self.speed, self.ending):
            row.addWidget(widget)
        row.addSpacing(theme.MEDIUM)
        row.addWidget(self.reached, 1)
        row.addWidget(self.close_)
        self.play.clicked.connect(lambda _checked=False: animation.toggle(animation.dimension))
        self.backwards.toggled.connect(lambda on: animation.set_step(-1 if on else 1))
        self.speed.valueChanged.connect(animation.set_speed)
        self.ending.activated.connect(self._ending_chosen)
        self.close_.clicked.connect(lambda _checked=False: self.end())
        animation.changed.connect(self.refresh)
        animation.frameShown.connect(self._say)
        self.hide()
        self.restyle()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.backwards.setIcon(icons.icon("backwards"))
        self.close_.setIcon(icons.icon("cancel"))
        self.refresh()

    def end(self) -> None:
        """Stop, and hide the controls."""
        self._animation.pause()
        self.hide()

    def refresh(self) -> None:
        """Show how it plays."""
        playing = self._animation.is_playing
        if playing:
            self.show()
        self.play.setIcon(icons.icon("pause" if playing else "play"))
        self.speed.blockSignals(True)
        self.speed.setValue(self._animation.speed)
        self.speed.blockSignals(False)
        words = "Pause" if playing else "Play"
        self.play.setToolTip(f"{words} (Space in the plot)")
        self.play.setAccessibleName(words)
        self._say()

    def _say(self) -> None:
        """Say how fast it really goes, and why where that is slower than it should."""
        animation = self._animation
        reached = animation.tempo.reached
        if not animation.is_playing:
            self.reached.setText("paused")
        elif reached is None:
            self.reached.setText("waiting for frames")
        else:
            late = ", limited by loading" if reached < _SLOW * animation.speed else ""
            self.reached.setText(f"{reached:.1f} frames/s reached{late}")

    def _ending_chosen(self, row: int) -> None:
        self._animation.set_ending(Ending(self.ending.itemData(row)))
