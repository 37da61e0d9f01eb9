"""What an element is: each type answers for itself, and none is asked what it does not know."""

import numpy as np
import pytest

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.data_type import (
    UNKNOWN,
    DataType,
    EnumerationType,
    MemberAttributes,
    RowType,
    SequenceType,
    StructureType,
    named_values,
)
from refbrowser.model.dtypes import members_of
from refbrowser.model.nested import NestedType, TypeKind
from refbrowser.model.nodes import ArrayNode

QUAKES = np.dtype([("time", ">f8"), ("place", [("lat", "<f4"), ("lon", "<f4")]), ("codes", "u1", (3,))])
SAID = {"time": MemberAttributes({"units": "days"}), "place.lat": MemberAttributes({"valid_max": 90})}
CLOUDS = {0: "clear", 7: "overcast"}


@pytest.mark.parametrize(
    ("dtype", "kind", "name"),
    [
        (np.dtype("<i2"), DataType, "<i2"),
        (np.dtype("S4"), DataType, "|S4"),
        (QUAKES, StructureType, None),
        (named_values(np.dtype("u1"), CLOUDS, "clouds"), EnumerationType, "|u1"),
    ],
)
def test_the_type_of_a_numpy_type(dtype: np.dtype, kind: type, name: str | None) -> None:
    made = DataType.of(dtype)
    assert type(made) is kind
    assert made.dtype == made.known_dtype == dtype
    assert made.inner is made
    assert name is None or made.name == name
    assert DataType.of(dtype, "mine").name == "mine"


def test_an_enumeration_names_its_values() -> None:
    made = DataType.of(named_values(np.dtype("u1"), CLOUDS, "clouds"))
    assert made.names == CLOUDS
    assert isinstance(made, EnumerationType)
    assert made.enum_name == "clouds"
    assert not made.members
    assert not DataType.of(np.dtype("u1")).names


def test_a_sequence_is_of_structures_whose_members_it_knows() -> None:
    sequence = SequenceType(QUAKES, "quakes", SAID)
    assert sequence.members == SAID
    assert not sequence.names
    assert sequence.inner is sequence
    one = sequence.structure
    assert type(one) is StructureType, "one of them is no sequence"
    assert (one.dtype, one.name, one.members) == (QUAKES, "quakes", SAID)
    assert one == StructureType(QUAKES, "quakes", SAID) != sequence
    assert not SequenceType(QUAKES).members


def test_rows_answer_with_what_their_elements_are() -> None:
    named = DataType.of(named_values(np.dtype("u1"), CLOUDS))
    for elements, names, members in (
        (named, CLOUDS, {}),
        (SequenceType(QUAKES, "quakes", SAID), {}, SAID),
        (DataType.of(np.dtype("f4")), {}, {}),
    ):
        rows = RowType(np.dtype(object), "rows", elements)
        assert rows.inner is elements
        assert rows.row_dtype == elements.dtype
        assert rows.names == names
        assert rows.members == members
        assert rows.known_dtype.hasobject


def test_what_is_not_known_is_an_error_and_not_none() -> None:
    why = RefbrowserError(ErrorKind.META, "no such type")
    for ask, message in (
        (lambda: UNKNOWN.known_dtype, "the type of the elements is not known"),
        (lambda: RowType(np.dtype(object)).row_dtype, "the type of the elements is not known"),
        (lambda: ArrayNode(path="/a").known_dtype, "the type of its elements is not known"),
        (lambda: ArrayNode(path="/a", error=why).known_dtype, "no such type"),
        (lambda: ArrayNode(path="/a", unreadable=why).known_dtype, "no such type"),
        (lambda: NestedType(TypeKind.STRING).known_dtype, "the elements are not numbers: string"),
    ):
        with pytest.raises(RefbrowserError, match=message) as error:
            ask()
        assert error.value.kind is ErrorKind.META
    number = NestedType(TypeKind.NUMBER, dtype=np.dtype(">i4"))
    assert number.known_dtype == ArrayNode(path="/a", type=DataType.of(np.dtype(">i4"))).known_dtype == ">i4"


def test_members_are_those_of_structures_in_order() -> None:
    assert [name for name, _ in members_of(QUAKES)] == ["time", "place", "codes"]
    assert dict(members_of(QUAKES))["codes"] == np.dtype(("u1", (3,)))
    assert members_of(np.dtype("f4")) == members_of(np.dtype(object)) == []
