"""Numbers are shown as they are stored: those of unions and of chunks of different types, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from awkward0_encoder import Encoder, Expression
from awkward_memory import MemoryBuffers, made, read

from refbrowser.errors import ErrorKind, RefbrowserError

LARGE = 2**53 + 1


def tagged(e: Encoder, tags: list[int], *contents: Any) -> Expression:
    return e.make("UnionArray.fromtags", e.basic(tags, "u1"), list(contents))


def in_chunks(e: Encoder, *chunks: Any) -> Expression:
    return e.make("ChunkedArray", list(chunks), {"json": [1] * len(chunks)})


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda e: tagged(e, [0, 1, 1], e.basic([7]), tagged(e, [0, 1], e.basic([LARGE]), e.basic([0.5]))),
         [7, LARGE, 0.5]),
        (lambda e: e.make("MaskedArray", e.basic([False, True, False]),
                          tagged(e, [0, 1, 1], e.basic([LARGE]), e.basic([2.5, 1.5]))), [LARGE, None, 1.5]),
        (lambda e: e.make("IndexedMaskedArray", e.basic([1, -1, 0]),
                          tagged(e, [0, 1], e.basic([LARGE]), e.basic([2.5]))), [2.5, None, LARGE]),
        (lambda e: in_chunks(e, e.jagged([2], [LARGE, 1]), e.jagged([1], [0.5]), e.jagged([1], [LARGE])),
         [[LARGE, 1], [0.5], [LARGE]]),
        (lambda e: in_chunks(e, *(tagged(e, [tag], e.basic([LARGE]), e.basic([0.5])) for tag in (0, 1))),
         [LARGE, 0.5]),
    ],
)  # fmt: skip
def test_large_integers_beside_floats_are_not_rounded(
    make: Callable[[Encoder], Expression], wanted: list[Any]
) -> None:
    values = made(make)
    assert [repr(each) for each in read(values, 0, len(wanted))] == [repr(each) for each in wanted]
    assert [read(values, row, row + 1)[0] for row in range(len(wanted))] == wanted


def test_integers_that_are_no_floats_are_an_error_where_they_must_be() -> None:
    for other in ([0.5], np.array([2**63], "u8")):
        near = made(lambda e, other=other: in_chunks(e, e.basic([LARGE - 1]), e.basic(other)))
        assert read(near, 0, 1) == [2.0**53]
        beyond = made(lambda e, other=other: in_chunks(e, e.basic([LARGE]), e.basic(other)))
        assert read(beyond, 1, 2) == [float(other[0])]
        with pytest.raises(RefbrowserError) as caught:
            read(beyond, 0, 1)
        assert caught.value.kind is ErrorKind.DECODE


def test_unions_of_too_many_possibilities_are_refused() -> None:
    def many(e: Encoder) -> Expression:
        fields = iter(range(200))

        def table() -> Expression:
            return e.make("Table.frompairs", {"pairs": [[f"f{next(fields)}", e.basic([1])]]}, {"json": 0})

        inner = [tagged(e, list(range(65)), *(table() for _ in range(65))) for _ in range(2)]
        return tagged(e, [0, 1], *inner)

    with pytest.raises(RefbrowserError) as caught:
        read(made(many), 0, 2)
    assert caught.value.kind is ErrorKind.BUDGET


def test_a_default_takes_the_type_of_the_content() -> None:
    values = made(lambda e: e.make("SparseArray", 3, e.basic([1]), e.basic([LARGE]), {"json": 7.0}))
    assert [repr(each) for each in read(values, 0, 3)] == ["7", str(LARGE), "7"]


def test_truth_values_are_one_or_none_whatever_their_bytes() -> None:
    values = made(lambda e: e.basic([0, 1, 2, 254], "u1"))
    truth = made(lambda e: e.basic([False] * 4, data=bytes([0, 1, 2, 254])))
    assert read(values, 0, 4) == [0, 1, 2, 254]
    rows = truth.rows(0, 4, MemoryBuffers()).content.data
    assert rows.view(np.uint8).tolist() == [0, 1, 1, 1]
