"""The formats of stores that can be written: each lays out arrays and writes metadata in its own way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Protocol

from refbrowser.exporting.store_options import StoreOptions
from refbrowser.formats.registry import facet, written
from refbrowser.model.nodes import ArrayNode, Flavour, GroupNode
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.exporting.layout import ArrayLayout, PlainName
    from refbrowser.exporting.request import Loss

#: Formats of stores: one object for each chunk (or shard) and for metadata.
STORE_FORMATS = tuple(form.name for form in written().values() if form.target)


class Target(Protocol):
    """A format of stores, with the options of one export. Made as ``SomeTarget(options, plain_name)``.

    Attributes
    ----------
    flavour
        Whose rules the metadata follows: what is written is read back by them.
    """

    flavour: Flavour

    def layout(self, node: ArrayNode, selection: Selection | None) -> ArrayLayout:
        """Return how an array is laid out; made with `refbrowser.exporting.layout.laid_out`.

        Raises
        ------
        RefbrowserError
            The array is not readable, or the format cannot hold it: it is left out with `skip_bad`.
        """
        ...

    def layouts(self, node: ArrayNode, selection: Selection | None) -> Sequence[ArrayLayout]:
        """Return how the arrays are laid out that an array becomes: one, or one for each of its fields.

        Raises
        ------
        RefbrowserError
            As `layout` does.
        """
        ...

    def settled(self, groups: Sequence[GroupNode], layouts: Sequence[ArrayLayout]) -> list[ArrayLayout]:
        """Return the layouts as they are once all of them are known.

        Parameters
        ----------
        groups
            As those of `metadata`.
        """
        ...

    def group_path(self, group: GroupNode) -> str:
        """Return the absolute path of a group in the target."""
        ...

    def attributes(self, node: ArrayNode | GroupNode) -> dict[str, Any]:
        """Return the attributes that reading a node of the target gives.

        Parameters
        ----------
        node
            A group of the source; of an array, `ArrayLayout.wanted`.
        """
        ...

    def losses(self, groups: Iterable[GroupNode]) -> Iterable[Loss]:
        """Yield what the format cannot hold of groups; arrays tell theirs in their layouts."""
        ...

    def metadata(self, groups: Iterable[GroupNode], layouts: Iterable[ArrayLayout]) -> dict[str, bytes]:
        """Return every metadata key of the store with its text.

        Parameters
        ----------
        groups
            Of the source, parents first, the root among them; those of the chosen arrays only.
        """
        ...


def target_of(format: str, options: StoreOptions, plain_name: PlainName = str) -> Target:
    """Return the target for a format, one of `STORE_FORMATS`.

    Parameters
    ----------
    plain_name
        As `plain_names` returns it.
    """
    made: Target = resolve_name(written()[format].target)(options, plain_name)
    return made


def plain_names(dataset: Dataset) -> PlainName:
    """Return what gives the name that a part of a path stands for: in paths of some formats it is escaped."""
    name: PlainName = facet(dataset.document.derived, "name") or str
    return name
