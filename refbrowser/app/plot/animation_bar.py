"""The controls of an animation: play, direction, speed, what happens at the end, and the speed reached."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QHBoxLayout, QWidget

from refbrowser.app.plot.animation import FASTEST, SLOWEST, Animation
from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.parts import plain_label, tool_button
from refbrowser.views.plot.plan import Ending

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
            late = ", frames come no faster" if reached < _SLOW * animation.speed else ""
            self.reached.setText(f"{reached:.1f} frames/s reached{late}")

    def _ending_chosen(self, row: int) -> None:
        self._animation.set_ending(Ending(self.ending.itemData(row)))

    def event(self, event: QEvent) -> bool:
        kinds = (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress)
        if event.type() in kinds and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if event.type() == QEvent.Type.KeyPress:
                self._animation.pause()
            event.accept()
            return True
        return super().event(event)
