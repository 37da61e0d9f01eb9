"""A film that is made while the window goes on: what is drawn here, and written by a job."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QObject, Signal

from refbrowser.app.tasks.tasks import TaskControl, Tasks
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobState, JobStatus
from refbrowser.tools.figure.film_files import write_film
from refbrowser.tools.figure.window.figure_plot import FigurePlot, FigureSource
from refbrowser.tools.figure.window.film_recorder import FilmRecorder
from refbrowser.views.figures.figure_form import FigureForm, FigureWords
from refbrowser.views.figures.film_plan import FilmPlan
from refbrowser.views.plot_states.plot_state import PlotState
from refbrowser.words import counted


@dataclass(frozen=True, slots=True)
class FilmOrder:
    """What a film is to be.

    Attributes
    ----------
    document
        What its document is called.
    """

    dataset: Dataset
    document: str
    state: PlotState
    plan: FilmPlan
    form: FigureForm
    words: FigureWords
    target: str


class FilmJob(QObject):
    """Makes one film, as a job that can be cancelled: nothing is left of it then.

    Signals
    -------
    done(str)
        It is there; what is to be said of it.
    failed(object)
        Why there is none.
    """

    done = Signal(str)
    failed = Signal(object)

    def __init__(self, order: FilmOrder, parent: QObject) -> None:
        super().__init__(parent)
        self._order = order
        self._source = FigureSource(order.dataset, self)
        self._plot = FigurePlot(self._source, order.document, self)
        self._recorder = FilmRecorder(self._plot, order.plan, order.form, order.words, self)
        application = QCoreApplication.instance()
        if application is not None:
            # While all that is drawn is still there.
            application.aboutToQuit.connect(self.close)

    def start(self, tasks: Tasks) -> None:
        """Begin.

        Raises
        ------
        RefbrowserError
            What is to be seen cannot be shown.
        """
        order, recorder = self._order, self._recorder
        colours: list[list[int]] = []

        def write(control: TaskControl) -> None:
            frames = recorder.frames(control.token)
            title = f"{order.document} {order.state.node}"
            count = len(order.plan.indices)
            write_film(order.target, frames, order.plan.rate, count, colours, title, control)

        def first() -> None:
            self._plot.ready.disconnect(first)
            colours.extend(self._plot.colours())
            recorder.start()

        self._plot.ready.connect(first)
        self._plot.show(order.state)
        tasks.run(
            f"film: {order.target}",
            f"Write the film {order.target}",
            write,
            lambda _none: self.done.emit(self._told()),
            self.failed.emit,
            followed=self._follow,
        )

    def _follow(self, status: JobStatus) -> None:
        if status.state.finished:
            self._recorder.stop()
            if status.state is JobState.CANCELLED:
                self.close()

    def _told(self) -> str:
        marked = len(self._recorder.failed)
        lost = f"; {counted(marked, 'frame')} marked, whose values could not all be read" if marked else ""
        return f"Written: {self._order.target}{lost}"

    def close(self) -> None:
        """Let go of what was read for it."""
        self._recorder.stop()
        self._plot.close()
        self._source.close()
        self.deleteLater()
