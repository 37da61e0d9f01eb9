"""What one pane shows, told as a value."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from refbrowser.views.plot_states.plot_state import PlotState, can_be_seen

if TYPE_CHECKING:
    from refbrowser.app.plot.presenter import Presenter


def told_plot(presenter: Presenter) -> PlotState | None:
    """Return what is shown as a value; None where no array is."""
    # Computing is loaded with what is computed.
    from refbrowser.views.derived.computed import source_of

    subject, drawing = presenter.subject, presenter.drawing
    dataset = None if subject.document is None else subject.document.dataset
    node, whole, shown = subject.node, subject.whole, subject.slice
    if dataset is None or node is None or whole is None or subject.document is None:
        return None
    path, expression, documents = source_of(dataset)
    state = PlotState(
        path,
        whole.path,
        expression,
        documents,
        part=presenter.part_name(),
        size_choice=subject.choice or "",
        is_level_fixed=presenter.stage.resolution.is_fixed,
    )
    if shown is None:
        return state
    is_drawn = presenter.stage.shows_canvas and shown.is_parallel(drawing.slice)
    is_part = is_drawn and not drawing.sees_whole()
    left_right, low_high, _size = drawing.canvas.sought_view()
    box = (*left_right, *low_high)
    return presenter.look.told(
        replace(
            state,
            selection=shown.text(drawing.visible_window() if is_drawn else None),
            axes=shown.axes,
            view=box if is_part and can_be_seen(box) else None,
        )
    )
