from __future__ import annotations

import base64
import contextlib
import pickle
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import RefbrowserError
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.layouts.pickles import globals_of, plain_value

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=300) | st.binary(max_size=300),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
    ),
    max_leaves=10,
)


def coded(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def refusal(data: bytes) -> str:
    with pytest.raises(RefbrowserError) as caught:
        plain_value(coded(data))
    return str(caught.value.kind)


class Command:
    def __reduce__(self) -> Any:
        return __import__("os").system, ("true",)


class State:
    def __init__(self) -> None:
        self.a = 1


class Saved(pickle.Pickler):
    def persistent_id(self, obj: object) -> Any:
        return "id" if obj == 77 else None


@given(PLAIN, st.sampled_from([3, 4, 5]))
def test_plain_values_are_read(value: Any, protocol: int) -> None:
    assert repr(plain_value(coded(pickle.dumps(value, protocol)))) == repr(value)


@pytest.mark.parametrize("protocol", range(6))
def test_values_of_old_protocols(protocol: int) -> None:
    value = [float("nan"), float("-inf"), 2**70, -1, 300, "é", (1, 2, 3, 4), {"a": [None, True]}, ()]
    assert repr(plain_value(coded(pickle.dumps(value, protocol)))) == repr(value)


def test_text_of_python_2() -> None:
    assert plain_value(coded(b"(S'a'\np0\nI01\nL5L\ntp1\n.")) == ("a", True, 5)


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps(Command()),
        pickle.dumps(Command(), 0),
        pickle.dumps(State()),
        pickle.dumps(np.float64(1)),
        pickle.dumps(np.dtype("f8")),
        pickle.dumps({1, 2}, 2),
        pickle.dumps(print),
        pickle.dumps([1, [2, (3, len)]]),
        b"cos\nsystem\n(S'true'\ntR.",
        b"(S'true'\nios\nsystem\n.",
        b"\x80\x02\x82\x01.",
        b"Pid\n.",
        b"\x80\x04\x8c\x02os\x8c\x06system\x93.",
        b"N}b.",
    ],
)
def test_all_else_is_refused(data: bytes) -> None:
    assert refusal(data) == "E_UNSAFE"


def test_persistent_ids_are_refused() -> None:
    import io

    stream = io.BytesIO()
    Saved(stream).dump([77])
    assert refusal(stream.getvalue()) == "E_UNSAFE"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b".",
        b"N",
        b"NN.",
        b"(.",
        b"t.",
        b"h\x00.",
        b"Na.",
        b"]NNNu.",
        b"}(Nu.",
        b"}((NNtNu.",
        b"I1x\n.",
        b"\xff.",
    ],
)
def test_damaged_ones(data: bytes) -> None:
    assert refusal(data) in ("E_SCHEMA", "E_UNSAFE")


def test_text_that_is_no_base_64() -> None:
    for text in ("*", "é", "gA"):
        with pytest.raises(RefbrowserError) as caught:
            plain_value(text)
        assert str(caught.value.kind) == "E_SCHEMA"


def test_sizes_are_bounded() -> None:
    with pytest.raises(RefbrowserError) as caught:
        plain_value("A" * (AWKWARD_LIMITS.awkward_pickle + 4))
    assert str(caught.value.kind) == "E_BUDGET"


def test_values_that_hold_themselves() -> None:
    value: list[Any] = []
    value.append(value)
    assert refusal(pickle.dumps(value)) == "E_BUDGET"


def test_shared_parts_do_not_multiply() -> None:
    value: Any = 1
    for _ in range(60):
        value = [value, value]
    assert refusal(pickle.dumps(value)) == "E_BUDGET"
    key: Any = 1
    for _ in range(60):
        key = (key, key)
    shared = pickle.dumps(key)[:-1]
    assert refusal(b"}(" + shared + b"Nu.") in ("E_SCHEMA", "E_BUDGET")


def test_depth_is_bounded() -> None:
    assert refusal(b"]" * 5000 + b"a" * 4999 + b".") == "E_BUDGET"


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused_by_kind(data: bytes) -> None:
    with contextlib.suppress(RefbrowserError):
        plain_value(coded(data + b"."))


@pytest.fixture
def imports() -> Iterator[list[str]]:
    seen: list[str] = []
    active = [True]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if active[0] and (event.startswith(("pickle.", "os.system", "exec")) or event == "import"):
            seen.append(f"{event} {arguments[:1]}")

    sys.addaudithook(hook)
    yield seen
    active[0] = False


def test_nothing_is_run(imports: list[str]) -> None:
    for data in (pickle.dumps(Command()), b"cantigravity\nx\n(tR.", b"\x80\x04\x8c\x04this\x8c\x01s\x93."):
        imports.clear()
        with pytest.raises(RefbrowserError):
            plain_value(coded(data))
        globals_of(coded(data))
        assert imports == []


def test_what_pickles_name_is_told() -> None:
    assert globals_of(coded(pickle.dumps(Command(), 0))) == ("posix.system",)
    assert globals_of(coded(pickle.dumps(Command()))) == ("posix.system",)
    assert globals_of("*") == ()
    assert globals_of(coded(pickle.dumps([1.0]))) == ()
