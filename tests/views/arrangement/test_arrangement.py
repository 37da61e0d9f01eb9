"""How views are arranged, as a value and as JSON."""

from __future__ import annotations

import json

import pytest

from refbrowser.errors import RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.views.arrangement.arrangement import Apart, Arrangement, Split, Tabs

FOUR = Arrangement(
    Split(True, (Tabs((0, 1), 1), Split(False, (Tabs((2,), 2), Tabs((3,), 3)), (2.0, 1.0))), (3.0, 1.0)),
    (Apart(Tabs((4,), 4), (10, 20, 400, 300)),),
    2,
    frozenset({"zoom", "cursor"}),
    (0, 2, 3),
)


def test_it_comes_back_from_json() -> None:
    assert Arrangement.from_json(json.loads(json.dumps(FOUR.as_json()))) == FOUR
    assert FOUR.count == 5


@pytest.mark.parametrize(
    "changed",
    [
        {"root": None},
        {"root": {"tabs": [], "front": 0}},
        {"root": {"tabs": [0, 0], "front": 0}, "apart": []},
        {"root": {"split": "across", "parts": [{"tabs": [0], "front": 0}], "shares": [1]}, "apart": []},
        {"active": 9},
        {"active": -1},
        {"active": True},
        {"crossing": [7, 8, 9]},
        {"apart": [{"tabs": {"tabs": [4], "front": 4}, "place": [0, 0, 1]}]},
        {"apart": [{"tabs": {"tabs": [4], "front": 4}, "place": [0, 0, 1, 1 << 40]}]},
        {"linked": "zoom"},
    ],
)
def test_what_is_none_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(RefbrowserError, match="no arrangement of views"):
        Arrangement.from_json({**FOUR.as_json(), **changed})


@pytest.mark.parametrize("share", [1e308, 5e-324, 0, -1.0, float("nan"), float("inf"), True, "1"])
def test_shares_are_numbers_above_zero(share: object) -> None:
    parts = [{"tabs": [number], "front": number} for number in (0, 1)]
    with pytest.raises(RefbrowserError, match="share"):
        Arrangement.from_json({"root": {"split": "down", "parts": parts, "shares": [1.0, share]}})


def test_neither_depth_nor_number_of_views_is_without_limit() -> None:
    node: dict[str, object] = {"tabs": [0], "front": 0}
    for _ in range(5_000):
        node = {"split": "across", "parts": [node, node], "shares": [1, 1]}
    with pytest.raises(RefbrowserError, match="deeply"):
        Arrangement.from_json({"root": node})
    many = [*range(LIMITS.views + 1)]
    with pytest.raises(RefbrowserError):
        Arrangement.from_json({"root": {"tabs": many, "front": 0}})
