"""What the user asks for who combines files: a value of which the window's thread loads nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from refbrowser.io.origins import ConnectionSettings, Origin
from refbrowser.views.compute_places import ComputeChoice

if TYPE_CHECKING:
    from refbrowser.exporting.combining.combination import Combination, Remedy
    from refbrowser.formats.lead import Lead


@dataclass(frozen=True, slots=True)
class CombineOrder:
    """What the user asks for.

    Attributes
    ----------
    sources
        Paths and URLs of files, patterns of paths, and lists.
    concat
        Dimensions with commas between; where there are none, they are found.
    new_dims, axis, select, rename
        As the command line takes them, with ``;`` between.
    target
        The document that is written; empty for one that is shown, and proposed as `name`.
    remedies
        What is done about what differs.
    compute
        Where files are looked at.
    settings
        How to connect, per origin.
    """

    sources: tuple[str, ...]
    concat: str = ""
    new_dims: str = ""
    axis: str = ""
    select: str = ""
    rename: str = ""
    target: str = ""
    name: str = ""
    merge: bool = False
    sort: bool = False
    fold: bool = False
    force: bool = False
    remedies: tuple[Remedy, ...] = ()
    compute: ComputeChoice = field(default_factory=ComputeChoice)
    settings: Mapping[Origin, ConnectionSettings] = field(default_factory=dict)

    def request(self) -> Combination:
        """Return it as the engine takes it, which is loaded for it."""
        from refbrowser.exporting.combining.combination import Combination

        request = Combination(
            sources=self.sources,
            target=os.path.abspath(os.path.expanduser(self.target)) if self.target else "",
            concat=_split(self.concat, ","),
            new_dims=_split(self.new_dims, ";"),
            axis=_split(self.axis, ";"),
            select=_split(self.select, ";"),
            rename=_split(self.rename, ";"),
            merge=self.merge,
            sort=self.sort,
            fold=self.fold,
            force=self.force,
            skip_bad=True,
            settings=self.settings,
        )
        for each in self.remedies:
            request = each.applied(request)
        return request


def _split(text: str, between: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.split(between) if each.strip())


def remedies_in(lead: Lead) -> list[Remedy]:
    """Return what a file that leads to others says of their attributes."""
    from refbrowser.exporting.combining.combination import Remedy
    from refbrowser.exporting.combining.led_sources import attribute_texts

    texts, _ = attribute_texts(lead)
    return [Remedy("set_attr", each) for each in texts]
