"""Functions of elements against those of numpy that they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.model.expressions.functions import ELEMENT_FUNCTIONS

KINDS = ["f2", "f4", "f8", ">f4", "i2", "u1", "i8", "c8", "?"]
SHAPES = st.sampled_from([(), (1,), (5,), (3, 5), (3, 1), (1, 5)])


@pytest.mark.slow
@given(st.data(), st.sampled_from([*KINDS, float]), st.sampled_from([*KINDS, float]))
def test_where_chooses_as_numpy_does(data: Any, one: Any, other: Any) -> None:
    chance = np.random.default_rng(data.draw(st.integers(0, 99)))

    def values(kind: Any) -> Any:
        if kind is float:
            return data.draw(st.sampled_from([np.nan, -0.0, 280.15, np.inf]))
        made = chance.normal(0, 50, data.draw(SHAPES)).astype(kind)
        return made.T.copy().T if data.draw(st.booleans()) else made[..., ::-1] if made.ndim else made

    condition = values(data.draw(st.sampled_from(["?", "f4", float])))
    first, second = values(one), values(other)
    found = ELEMENT_FUNCTIONS["where"].apply(condition, first, second)
    expected = np.where(condition, first, second)
    assert (found.dtype.newbyteorder("="), found.shape) == (expected.dtype.newbyteorder("="), expected.shape)
    assert np.asarray(found, expected.dtype).tobytes() == expected.tobytes()
