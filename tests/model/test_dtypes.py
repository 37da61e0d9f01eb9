import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from zarr_versions import needs_types_of_zarr

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.dtypes import parse_v2, parse_v3, type_name, with_byte_order

SCALARS = (
    hnp.integer_dtypes()
    | hnp.unsigned_integer_dtypes()
    | hnp.floating_dtypes(sizes=(16, 32, 64))
    | hnp.complex_number_dtypes(sizes=(64, 128))
    | hnp.boolean_dtypes()
    | hnp.datetime64_dtypes()
    | hnp.timedelta64_dtypes()
    | hnp.byte_string_dtypes(min_len=1)
    | hnp.unicode_string_dtypes(min_len=1)
)


def without_titles(descr):
    if isinstance(descr, str):
        return descr
    return [
        (name[1] if isinstance(name, tuple) else name, without_titles(kind), *shape)
        for name, kind, *shape in descr
    ]


@pytest.mark.slow
@given(hnp.nested_dtypes(SCALARS, max_itemsize=400))
def test_what_numpy_prints_is_read_back(dtype):
    dtype = dtype.base
    described = without_titles(dtype.descr) if dtype.fields else dtype.str
    assert parse_v2(json.loads(json.dumps(described))) == np.dtype(described)


@given(
    st.recursive(
        st.text("<>|biufcSUVMmO0123456789[]ns", max_size=8) | st.integers() | st.none(),
        lambda inner: st.lists(inner, max_size=3),
    )
)
def test_anything_else_is_an_error_of_metadata(value):
    with suppress(RefbrowserError):
        assert parse_v2(value).itemsize <= LIMITS.element_size


@pytest.mark.parametrize(
    "text", ["i3", "<i4,<i4", "int32", "<f8 ", "O4", "(2,)i4", "<M8[x]", "=i4", "S-1", "", "<f1"]
)
def test_text_that_is_no_type(text):
    with pytest.raises(RefbrowserError) as caught:
        parse_v2(text)
    assert caught.value.kind is ErrorKind.META


def test_elements_are_limited():
    limit = LIMITS.element_size
    assert parse_v2(f"|S{limit}").itemsize == limit
    assert parse_v2(f"<U{limit // 4}").itemsize == limit
    for value in (
        f"|S{limit + 1}",
        f"<U{limit // 4 + 1}",
        [["a", "|V1000", [limit]]],
        [["a", f"|S{limit}"], ["b", "|u1"]],
    ):
        with pytest.raises(RefbrowserError) as caught:
            parse_v2(value)
        assert caught.value.kind is ErrorKind.BUDGET


def test_structures_are_nested_only_so_deep():
    value = "<i4"
    for _ in range(400):
        value = [["a", value]]
    with pytest.raises(RefbrowserError):
        parse_v2(value)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ("bool", "?"),
        ("int8", "i1"),
        ("uint64", "<u8"),
        ("float16", "<f2"),
        ("complex128", "<c16"),
        ("r24", "V3"),
        ("string", "O"),
        ("bytes", "O"),
        ("variable_length_bytes", "O"),
        ({"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}}, "<U3"),
        ({"name": "null_terminated_bytes", "configuration": {"length_bytes": 3}}, "S3"),
        ({"name": "raw_bytes", "configuration": {"length_bytes": 3}}, "V3"),
        ({"name": "numpy.datetime64", "configuration": {"unit": "ns", "scale_factor": 1}}, "<M8[ns]"),
        ({"name": "numpy.timedelta64", "configuration": {"unit": "s", "scale_factor": 10}}, "<m8[10s]"),
        (
            {"name": "structured", "configuration": {"fields": [["a", "int16"], ["b", {"name": "r8"}]]}},
            [("a", "<i2"), ("b", "V1")],
        ),
    ],
)
def test_v3_names(value, dtype):
    assert parse_v3(value) == np.dtype(dtype)


@pytest.mark.parametrize(
    "value",
    [
        *("int7", "r7", "r0", "<i4", "bfloat16", 3, None),
        *({"name": 1}, {"name": "raw_bytes"}, {"name": "structured"}),
        {"name": "fixed_length_utf32", "configuration": {"length_bytes": 3}},
        {"name": "raw_bytes", "configuration": {"length_bytes": -1}},
        {"name": "null_terminated_bytes", "configuration": {"length_bytes": True}},
    ],
)
def test_v3_names_that_are_not_known(value):
    with pytest.raises(RefbrowserError) as caught:
        parse_v3(value)
    assert caught.value.kind is ErrorKind.META


@needs_types_of_zarr
def test_what_zarr_python_writes_is_known():
    zarr = pytest.importorskip("zarr")
    from zarr.dtype import parse_data_type

    assert zarr
    for text in [
        "<i2",
        "?",
        "<f4",
        "<c8",
        "S5",
        "<U4",
        "V6",
        "<M8[ns]",
        "<m8[5m]",
        [("a", "<i4"), ("b", "S3")],
    ]:
        dtype = np.dtype(text)
        known = parse_data_type(dtype, zarr_format=3)
        assert parse_v3(known.to_json(zarr_format=3)) == dtype
        assert parse_v2(known.to_json(zarr_format=2)["name"]) == dtype


def test_names_and_byte_order():
    assert type_name(np.dtype(">i2")) == ">i2"
    assert type_name(np.dtype([("a", "<i4")])) == "[('a', '<i4')]"
    assert with_byte_order(np.dtype([("a", "<i4")]), "big") == np.dtype([("a", ">i4")])
