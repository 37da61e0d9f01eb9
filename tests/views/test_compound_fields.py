"""The fields of structures, as they are listed."""

import numpy as np

from refbrowser.model.data_type import named_values, rows_type
from refbrowser.views.attributes import FieldRow, fields_of


def test_fields_have_types_and_places():
    dtype = np.dtype([("a", ">i2"), ("b", [("c", "S1"), ("d", "<f8", (2,))])])
    assert fields_of(dtype, 9) == [
        FieldRow("a", "short", "bytes 0 to 1"),
        FieldRow("b", "compound", "bytes 2 to 18"),
        FieldRow("b.c", "char", "byte 2"),
        FieldRow("b.d", "double", "2 values, bytes 3 to 18"),
    ]


def test_fields_of_streams_have_names_and_no_places():
    dtype = np.dtype(
        [
            ("text", rows_type(str), (2,)),
            ("blob", rows_type(bytes)),
            ("rows", rows_type(np.dtype(">i4"))),
            ("log", rows_type(np.dtype([("t", "f8")]))),
            ("sky", named_values(np.dtype("u1"), {0: "clear"}, "weather")),
            ("object", object),
        ]
    )
    assert [(row.path, row.type, row.words) for row in fields_of(dtype, 9)] == [
        ("text", "string", "2 values"),
        ("blob", "opaque", ""),
        ("rows", "int(*)", ""),
        ("log", "sequence", ""),
        ("sky", "enum weather", ""),
        ("object", "string", ""),
    ]
