"""How requests of CDM Remote name sections."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.wings.ncstream.remote.spec import (
    NoSuchVariableError,
    SectionRequest,
    escaped,
    requests_in,
    spec_of,
    spellings_of,
)

NAMES = spellings_of(["/z", "/ocean/temp", "/a.b", "/p(K)", "/p", "/x,y", r"/back\slash"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/z", [("/z", None)]),
        ("z", [("/z", None)]),
        ("z()", [("/z", None)]),
        ("z(0,1:3,:,2:8:3)", [("/z", (range(1), range(1, 4), None, range(2, 9, 3)))]),
        (" z".strip() + "( 0 , 1 : 3 )", [("/z", (range(1), range(1, 4)))]),
        ("ocean/temp(5);/z", [("/ocean/temp", (range(5, 6),)), ("/z", None)]),
        ("/ocean/temp(5),/z(:)", [("/ocean/temp", (range(5, 6),)), ("/z", (None,))]),
        (r"a\.b(1)", [("/a.b", (range(1, 2),))]),
        ("/a.b(1)", [("/a.b", (range(1, 2),))]),
        (r"p\(K\)(0)", [("/p(K)", (range(1),))]),
        ("/p(K)(0)", [("/p(K)", (range(1),))]),
        ("/p(0)", [("/p", (range(1),))]),
        (r"x\,y;p", [("/x,y", None), ("/p", None)]),
        ("/x,y", [("/x,y", None)]),
        (r"back\\slash", [(r"/back\slash", None)]),
    ],
)
def test_requests_are_read(text: str, expected: list[Any]) -> None:
    assert [(each.path, each.axes) for each in requests_in(text, NAMES)] == expected


@pytest.mark.parametrize(
    "text",
    [
        *(
            "z(",
            "z(0",
            "z(a)",
            "z(-1)",
            "z(3:2)",
            "z(0:4:0)",
            "z(0,,1)",
            "z(::2)",
            "z(1:)",
            "z(0)x",
            "z(0)(1)",
        ),
        *("z(" + "0," * 40 + "0)", "z;", ";", "", "z(0.5)", "z(9999999999999999999999)", "z(٣)", "z;;z"),
    ],
)
def test_malformed_requests_are_refused(text: str) -> None:
    with pytest.raises(RefbrowserError) as caught:
        requests_in(text, NAMES)
    assert caught.value.kind is ErrorKind.USAGE
    assert not isinstance(caught.value, NoSuchVariableError)


@pytest.mark.parametrize("text", ["nothing", "z;nothing", "/zz", "/z/", "/etc/passwd", "..", "/ocean"])
def test_unknown_names_are_told(text: str) -> None:
    with pytest.raises(NoSuchVariableError):
        requests_in(text, NAMES)
    with pytest.raises(NoSuchVariableError):
        requests_in(text, {})


@pytest.mark.parametrize(
    ("axes", "shape", "ragged"),
    [
        (None, (), False),
        ((None, None), (2, 3), False),
        ((range(2), None), (2,), True),
        ((range(2),), (2,), True),
    ],
)
def test_sections_that_fit(axes: Any, shape: tuple[int, ...], ragged: bool) -> None:
    request = SectionRequest("/z", axes)
    assert request.ranges(shape, is_ragged=ragged) == tuple(range(length) for length in shape)


@pytest.mark.parametrize(
    ("axes", "shape", "ragged"),
    [
        ((range(1),), (), False),
        ((range(3),), (2,), False),
        ((None,), (2, 2), False),
        ((None, range(1)), (2,), True),
        ((range(0, 9, 4),), (8,), False),
        ((None, None, None), (2,), True),
    ],
)
def test_sections_that_do_not_fit(axes: Any, shape: tuple[int, ...], ragged: bool) -> None:
    with pytest.raises(RefbrowserError) as caught:
        SectionRequest("/z", axes).ranges(shape, is_ragged=ragged)
    assert caught.value.kind is ErrorKind.RANGE


name = st.text(st.characters(exclude_characters="/", exclude_categories=("Cs",)), min_size=1, max_size=6)
taken = st.builds(
    lambda start, count, step: range(start, start + (count - 1) * step + 1, step),
    st.integers(0, 20),
    st.integers(1, 9),
    st.integers(1, 5),
)


@given(
    st.lists(st.lists(name, min_size=1, max_size=3), min_size=1, max_size=4, unique_by=tuple),
    st.data(),
)
def test_what_is_written_is_read(parts: list[list[str]], data: st.DataObject) -> None:
    paths = ["/" + "/".join(each) for each in parts]
    wanted = [(path, data.draw(st.lists(taken, max_size=3))) for path in paths]
    text = ";".join(spec_of(path, ranges) for path, ranges in wanted)
    read = requests_in(text, spellings_of(paths))
    assert [each.path for each in read] == paths
    for request, (_, ranges) in zip(read, wanted, strict=True):
        assert [list(axis or ()) for axis in request.axes or ()] == [list(each) for each in ranges]


def test_reserved_characters_are_escaped() -> None:
    assert escaped(r"/g/a.b\c(d);e,f") == r"/g/a\.b\\c\(d\)\;e\,f"
    assert spec_of("/z", [range(2), range(3, 4), range(0, 9, 4)]) == "/z(0:1,3:3,0:8:4)"
    assert spec_of("/v", [range(2)], is_ragged=True) == "/v(0:1,:)"
