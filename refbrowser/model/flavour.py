"""The flavours of Zarr metadata; loaded without anything else, for menus and help."""

from __future__ import annotations

from typing import ClassVar, Self


class Flavour(str):
    """Whose rules the metadata of a dataset follows; wings have more than the core's, by their rules.

    Attributes
    ----------
    menu_name
        What it is called in menus, with ``&`` before the letter that leads to it.
    store_format
        The name of an opened store of this flavour, as in ``refbrowser export --to``.
    """

    ZARR_V2: ClassVar[Flavour]
    ZARR_V3: ClassVar[Flavour]
    NCZARR: ClassVar[Flavour]

    menu_name: str
    store_format: str

    def __new__(cls, name: str, menu_name: str = "", store_format: str = "") -> Self:
        """Make the flavour of a name, which is its text."""
        made = super().__new__(cls, name)
        made.menu_name = menu_name or name
        made.store_format = store_format or name
        return made

    @property
    def label(self) -> str:
        """Its name for people."""
        return self.menu_name.replace("&", "")


Flavour.ZARR_V2 = Flavour("zarr-v2", "Zarr v&2")
Flavour.ZARR_V3 = Flavour("zarr-v3", "Zarr v&3")
Flavour.NCZARR = Flavour("nczarr", "&NCZarr")
