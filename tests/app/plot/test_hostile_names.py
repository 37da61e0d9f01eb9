"""Text from a file stays plain text wherever the plot shows it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from plot_memory import MemoryDocument, array
from PySide6.QtWidgets import QLabel

from refbrowser.app.plot.plot_pane import PlotPane

MARKUP = "<b>bold</b><img src='file:///etc/passwd'>"


def test_markup_is_shown_as_it_stands(plotted: Callable[..., MemoryDocument], pane: PlotPane) -> None:
    plotted(
        array("/field", np.zeros((2, 3, 4)), (MARKUP, "y", "x"), units=MARKUP, long_name=f"{MARKUP}\nsecond"),
        array("/x", np.arange(4.0), ("x",), units=MARKUP, long_name=MARKUP),
    )
    label = pane.canvas.across.label
    assert "<b>" in label.toPlainText()
    assert "<b>" not in label.toHtml().split("<body", 1)[1]
    assert pane.header.title.text() == f"{MARKUP} second"
    for shown in pane.findChildren(QLabel):
        assert shown.textFormat().name == "PlainText" or not shown.text(), shown.objectName()
    assert "<b>" not in pane.header.title.toolTip().replace("&lt;b&gt;", "")


def test_long_names_do_not_widen_the_window(plotted: Callable[..., MemoryDocument], pane: PlotPane) -> None:
    name = "a_dimension_with_a_name_that_goes_on_" * 8
    plotted(
        array("/field", np.zeros((2, 3, 4)), (name, name + "y", name + "x"), long_name=name * 3, units=name)
    )
    assert pane.minimumSizeHint().width() < 760
