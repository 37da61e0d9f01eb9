"""How every benchmark prints: what was measured, ours, the peer's or the limit, the ratio, and the aim."""

from __future__ import annotations


def heading(title: str) -> None:
    """Print the title of a group of figures."""
    print(f"\n{title}")
    print(f"  {'what':<70} {'ours':>12} {'other':>12} {'ratio':>9}  aim")


def figure(what: str, ours: float, unit: str, *, other: float | None = None, aim: str = "") -> None:
    """Print one figure; `other` is the peer's, or the limit that ours is held against."""
    against = "" if other is None else f"{other:.4g} {unit}"
    ratio = "" if other is None or not other else f"{ours / other:.3g}"
    print(f"  {what:<70} {f'{ours:.4g} {unit}':>12} {against:>12} {ratio:>9}  {aim}", flush=True)
