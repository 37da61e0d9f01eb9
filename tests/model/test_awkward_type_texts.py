from __future__ import annotations

from typing import Any

import awkward as ak
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.limits import LIMITS
from refbrowser.model.nested import NestedType, TypeKind, number_text, type_text

NUMBERS = [
    "?",
    "i1",
    "u1",
    "i2",
    "u2",
    "i4",
    "u4",
    "i8",
    "u8",
    "f2",
    "f4",
    "f8",
    "c8",
    "c16",
    "M8[ns]",
    "M8[25s]",
    "m8[D]",
    "M8",
    "m8",
]
NAMES = st.sampled_from(["x", "_y1", "a b", "1", "é", 'q"', "\n", "", "string", "int64"])


def number(code: str) -> tuple[NestedType, Any]:
    dtype = np.dtype(code)
    form = ak.forms.NumpyForm(ak.types.numpytype.dtype_to_primitive(dtype))
    return NestedType(TypeKind.NUMBER, dtype=dtype), form


def string(kind: TypeKind) -> tuple[NestedType, Any]:
    outer, inner = ("string", "char") if kind is TypeKind.STRING else ("bytestring", "byte")
    content = ak.forms.NumpyForm("uint8", parameters={"__array__": inner})
    form = ak.forms.ListOffsetForm("i64", content, parameters={"__array__": outer})
    return NestedType(kind), form


def lists(inner: tuple[NestedType, Any]) -> tuple[NestedType, Any]:
    return NestedType(TypeKind.LIST, items=(inner[0],)), ak.forms.ListOffsetForm("i64", inner[1])


def regular(inner: tuple[NestedType, Any], size: int) -> tuple[NestedType, Any]:
    return NestedType(TypeKind.LIST, size=size, items=(inner[0],)), ak.forms.RegularForm(inner[1], size)


def option(inner: tuple[NestedType, Any]) -> tuple[NestedType, Any]:
    if inner[0].kind in (TypeKind.OPTION, TypeKind.UNION):
        return inner
    return NestedType(TypeKind.OPTION, items=(inner[0],)), ak.forms.ByteMaskedForm("i8", inner[1], True)


def record(inner: list[tuple[NestedType, Any]], names: list[str] | None, name: str) -> tuple[NestedType, Any]:
    parameters = {"__record__": name} if name else None
    contents = [form for _, form in inner]
    items = tuple(kind for kind, _ in inner)
    made = NestedType(
        TypeKind.RECORD,
        items=items,
        fields=tuple(map(str, range(len(items))) if names is None else names),
        name=name,
        is_tuple=names is None,
    )
    return made, ak.forms.RecordForm(contents, names, parameters=parameters)


LEAVES = st.one_of(
    st.sampled_from(NUMBERS).map(number),
    st.sampled_from([TypeKind.STRING, TypeKind.BYTES]).map(string),
    st.just((NestedType(TypeKind.EMPTY), ak.forms.EmptyForm())),
)


def above(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    fields = st.lists(inner, max_size=3)
    named = fields.flatmap(
        lambda items: st.tuples(
            st.just(items),
            st.none() | st.lists(NAMES, min_size=len(items), max_size=len(items), unique=True),
            st.sampled_from(["", "Point", "a b", "union", "float32"]),
        )
    )
    return st.one_of(
        inner.map(lists),
        st.tuples(inner, st.integers(0, 3)).map(lambda pair: regular(*pair)),
        inner.map(option),
        named.map(lambda three: record(*three)),
    )


@given(st.recursive(LEAVES, above, max_leaves=8))
def test_types_are_written_as_awkward_writes_them(pair: tuple[NestedType, Any]) -> None:
    kind, form = pair
    assert type_text(kind) == str(form.type)


def test_unions() -> None:
    array = ak.Array([1, "a", [2.5]])
    kind = NestedType(
        TypeKind.UNION,
        items=(
            NestedType(TypeKind.NUMBER, dtype=np.dtype("i8")),
            NestedType(TypeKind.STRING),
            NestedType(TypeKind.LIST, items=(NestedType(TypeKind.NUMBER, dtype=np.dtype("f8")),)),
        ),
    )
    assert type_text(kind) == str(array.type.content)


@pytest.mark.parametrize("code", [">i4", "<f8", ">M8[s]", ">c16"])
def test_byte_orders_are_not_written(code: str) -> None:
    assert number_text(np.dtype(code)) == str(
        ak.from_numpy(np.zeros(1, np.dtype(code).newbyteorder("="))).type.content
    )


def test_what_awkward_has_no_word_for() -> None:
    assert type_text(NestedType(TypeKind.LINK, name="3")) == "link[3]"
    assert type_text(NestedType(TypeKind.OPAQUE, name="a\nb")) == "unreadable[a\\nb]"


def test_types_of_shared_parts_are_cut() -> None:
    kind = NestedType(TypeKind.STRING)
    for _ in range(60):
        kind = NestedType(TypeKind.RECORD, items=(kind, kind), fields=("a", "b"))
    text = type_text(kind)
    assert len(text) == LIMITS.awkward_type_text + 1
    assert text.startswith("{a: {a: {a: ")
    assert text.endswith("…")
