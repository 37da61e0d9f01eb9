"""What the user chose of lines and arrows over a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from refbrowser.limits import LIMITS
from refbrowser.views.overlays.composite import USUAL_COMPOSITE, Composite
from refbrowser.views.overlays.contours import FOLLOWING, Spacing

_MEMBERS = ("contours_of", "spacing", "u", "v", "bands")
#: Characters of values that were typed.
_TEXT = 2_000


@dataclass(frozen=True, slots=True)
class Marks:
    """Of what lines and arrows are.

    Attributes
    ----------
    contours_of
        Path of the array whose lines of equal values are drawn; empty for the one that is shown.
    spacing
        At which values.
    arrows
        Paths of both components; empty for those that are found first.
    composite
        The bands that are drawn as colours.
    """

    contours_of: str = ""
    spacing: Spacing = FOLLOWING
    arrows: tuple[str, str] = ("", "")
    composite: Composite = USUAL_COMPOSITE

    @classmethod
    def of(cls, said: Any) -> Marks:
        """Return what plain values say, as those of JSON are.

        Raises
        ------
        ValueError
            They say no such thing.
        """
        if not isinstance(said, dict) or not said.keys() <= set(_MEMBERS):
            raise ValueError(f"an object with some of {', '.join(_MEMBERS)} is expected")
        for value in said.values():
            if not isinstance(value, str) or len(value) > max(_TEXT, 5 * LIMITS.key_length):
                raise ValueError("texts are expected")
        return cls(
            said.get("contours_of", ""),
            Spacing.of(said.get("spacing", "")[:_TEXT]),
            (said.get("u", ""), said.get("v", "")),
            Composite.of(said.get("bands", "")),
        )

    def said(self) -> dict[str, str]:
        """Return it in plain values, without what is as it begins."""
        u, v = self.arrows
        texts = self.contours_of, self.spacing.text, u, v, self.composite.text
        members = dict(zip(_MEMBERS, texts, strict=True))
        return {name: text for name, text in members.items() if text}


USUAL_MARKS = Marks()
