from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from view_arrays import node

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.views.plot.plan import plan_view
from refbrowser.views.plot.reading import AuxiliaryNode, auxiliary_nodes, read_auxiliary
from refbrowser.views.plot.slicing import SliceState, dimension_names

LATITUDES = np.linspace(40, 60, 20).reshape(4, 5)


def array(name: str, dimensions: tuple[str, ...], shape: tuple[int, ...], **attributes: Any) -> ArrayNode:
    return node(shape, dtype="f8", dimensions=dimensions, path=f"/{name}", **attributes)


FIELD = array("field", ("time", "y", "x"), (3, 4, 5), coordinates="lat lon cycle height gone other")
ARRAYS = (
    FIELD,
    array("lat", ("y", "x"), (4, 5), units="degrees_north"),
    array("lon", ("y", "x"), (4, 5), units="degrees_east"),
    array("cycle", ("time",), (3,), units="1"),
    array("height", (), (), units="m"),
    array("other", ("z", "x"), (4, 5)),
    array("y", ("y",), (4,)),
)


def hierarchy(*arrays: ArrayNode, **attributes: Any) -> Hierarchy:
    group = GroupNode(arrays={each.name: each for each in arrays}, attributes=attributes)
    return Hierarchy(root=group, format="refs-v1")


def names(found: tuple[AuxiliaryNode, ...]) -> list[str]:
    return [each.node.name for each in found]


def test_the_attribute_names_them() -> None:
    found = auxiliary_nodes(hierarchy(*ARRAYS), FIELD)
    assert names(found) == ["lat", "lon", "cycle"], "no scalars, nothing of other dimensions"
    assert [each.dimensions for each in found] == [(1, 2), (1, 2), (0,)]


def test_the_group_names_them_as_xarray_writes_it() -> None:
    plain = array("field", ("time", "y", "x"), (3, 4, 5))
    found = auxiliary_nodes(hierarchy(plain, *ARRAYS[1:], coordinates="cycle y"), plain)
    assert names(found) == ["cycle", "lat", "lon"], "the coordinate of a dimension is shown anyway"


def test_latitudes_and_longitudes_of_the_same_dimensions_are_found_by_themselves() -> None:
    plain = array("field", ("time", "y", "x"), (3, 4, 5))
    assert names(auxiliary_nodes(hierarchy(plain, *ARRAYS[1:]), plain)) == ["lat", "lon"]
    other = array("field", ("time", "y", "x"), (3, 4, 6))
    assert names(auxiliary_nodes(hierarchy(other, *ARRAYS[1:]), other)) == []


def session(values: dict[str, np.ndarray], fails: tuple[str, ...] = ()) -> Any:
    def read(node: ArrayNode, access: object, selection: Any, **_: Any) -> np.ndarray:
        if node.name in fails:
            raise RefbrowserError(ErrorKind.SOURCE, "gone")
        found = values[node.name]
        index = tuple(slice(axis.start, axis.stop, axis.step) for axis in selection.axes)
        return np.squeeze(found[index], tuple(selection.dropped))

    return SimpleNamespace(read=read)


VALUES = {"lat": LATITUDES, "lon": -LATITUDES * 2, "cycle": np.array([7.0, 8, 9])}


@pytest.mark.parametrize(("x", "y"), [(2, 1), (1, 2)])
def test_places_are_told_on_any_axes(x: int, y: int) -> None:
    found = auxiliary_nodes(hierarchy(*ARRAYS), FIELD)
    state = SliceState(FIELD.shape, dimension_names(FIELD), x, y, (1, 0, 0))
    read = read_auxiliary(session(VALUES), None, found, plan_view(FIELD, state), None)  # type: ignore[arg-type]
    told = {each.name: each.text((1, 2, 3)) for each in read.found}
    assert told["lat"] == f"{LATITUDES[2, 3]:.7g}°N"
    assert told["lon"] == f"{LATITUDES[2, 3] * 2:.7g}°W"
    assert told["cycle"] == "8"
    assert [each.text((2, 2, 3)) for each in read.found][2] == "", "of another slice nothing is known"


def test_of_a_sample_only_its_elements_are_known() -> None:
    found = auxiliary_nodes(hierarchy(*ARRAYS), FIELD)[:1]
    state = SliceState(FIELD.shape, dimension_names(FIELD), 2, 1, (0, 0, 0))
    plan = plan_view(FIELD, state, steps=(2, 3))
    read = read_auxiliary(session(VALUES), None, found, plan, None)  # type: ignore[arg-type]
    (latitude,) = read.found
    assert latitude.text((0, 2, 3)) == f"{LATITUDES[2, 3]:.7g}°N"
    assert latitude.text((0, 1, 3)) == ""


def test_what_fails_is_left_out() -> None:
    found = auxiliary_nodes(hierarchy(*ARRAYS), FIELD)
    state = SliceState(FIELD.shape, dimension_names(FIELD), 2, 1, (0, 0, 0))
    read = read_auxiliary(session(VALUES, ("lat",)), None, found, plan_view(FIELD, state), None)  # type: ignore[arg-type]
    assert [each.name for each in read.found] == ["lon", "cycle"]
    assert [text.split(":")[0] for text in read.lost] == ["lat cannot be read"]
