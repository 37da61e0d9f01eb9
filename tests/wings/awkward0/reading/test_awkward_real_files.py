"""The two real files are read to the values that two other readers agreed on."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from awkward0_environment import Awkward0Process
from awkward0_values import read_values, same

import refbrowser
from refbrowser.model.nested import type_text

FILES = {"mini.hepmc": 80, "mini_particles": 135}


def flat_numbers(value: Any) -> list[float]:
    """Return the numbers of nested lists one after the other."""
    if isinstance(value, list):
        return [number for each in value for number in flat_numbers(each)]
    return [value]


def differences(array: refbrowser.Array, expected: dict[str, Any]) -> list[str]:
    """Return in what an array differs from what is told of it."""
    values = read_values(array)
    if "scalar" in expected:
        return [] if values == expected["scalar"] else ["scalar"]
    facts: dict[str, Any] = {"length": len(values)}
    nested = array.node.nested if array.node.nested is not None else None
    facts["type"] = (
        f"{len(values)} * {np.dtype(array.dtype).name if nested is None else type_text(nested.type)}"
    )
    if "flat_length" in expected:
        numbers = flat_numbers(values)
        finite = np.array([each for each in numbers if math.isfinite(each)], "f8")
        facts |= {"flat_length": len(numbers)}
        if numbers:
            facts |= {"finite": len(finite), "min": finite.min(), "max": finite.max(), "sum": finite.sum()}
            facts["first"] = numbers[:4]
    return [name for name in facts if name in expected and not alike(facts[name], expected[name])]


def alike(found: Any, expected: Any) -> bool:
    """Tell whether facts agree; numbers within what the order of adding them up changes."""
    if isinstance(expected, str):
        return bool(found == expected)
    # Infinities and NaN stand there as text.
    numbers = np.array(expected, object).astype("f8")
    return bool(np.allclose(found, numbers, rtol=1e-9, atol=0, equal_nan=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_every_array(shared_data: Path, name: str) -> None:
    folder = shared_data / "awkward0"
    expected = json.loads((folder / f"{name}.expected.json").read_text("utf-8"))
    assert len(expected) == FILES[name]
    with refbrowser.open(folder / f"{name}.awkd") as dataset:
        wrong = {
            each: found for each in expected if (found := differences(dataset[f"/{each}"], expected[each]))
        }
    assert not wrong


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_every_value_is_that_of_awkward0(shared_data: Path, name: str, awkward0: Awkward0Process) -> None:
    path = shared_data / "awkward0" / f"{name}.awkd"
    expected = awkward0.read(path)
    assert len(expected) == FILES[name]
    with refbrowser.open(path) as dataset:
        wrong = [each for each in expected if not same(read_values(dataset[f"/{each}"]), expected[each])]
    assert not wrong
