"""What options of figures mean, as the state of a plot; what is none is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import refbrowser
from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.tools.figure.figure_states import state_of
from refbrowser.tools.figure.request import FigureRequest


@pytest.fixture
def array(document: Callable[..., str]) -> Any:
    with refbrowser.open(document(np.zeros((3, 4, 5), "f4"))) as dataset:
        yield next(dataset.array(node.path) for node in dataset.hierarchy.walk() if hasattr(node, "shape"))


def test_options_are_those_of_a_plot(array: Any) -> None:
    names = [name or f"dim {axis}" for axis, name in enumerate(array.dimensions)]
    asked = FigureRequest(
        contours="every 4", arrows=(array.path, array.path), steps=6, centre=1.5, x=names[0], y=names[2]
    )
    state = state_of(array, "", asked, CancelToken())
    assert state.scale == {"centre": 1.5, "steps": 6}
    assert state.marks == {"spacing": "every 4", "u": array.path, "v": array.path}
    assert state.overlays == {"contours": True, "arrows": True}
    assert (state.axes, state.selection) == ((2, 0), ":,0,:")


@pytest.mark.parametrize(
    "asked",
    [
        FigureRequest(contours="now and then"),
        FigureRequest(arrows=("/u", "/none")),
        FigureRequest(x="nowhere"),
        FigureRequest(y="y"),
    ],
)
def test_what_cannot_be_is_refused(array: Any, asked: FigureRequest) -> None:
    with pytest.raises(RefbrowserError) as caught:
        state_of(array, "", asked, CancelToken())
    assert caught.value.kind.value == "E_USAGE"
