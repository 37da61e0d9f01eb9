"""The flavours of Zarr metadata; loaded without anything else, for menus and help."""

from __future__ import annotations

from enum import StrEnum


class Flavour(StrEnum):
    """Whose rules the metadata of a dataset follows."""

    ZARR_V2 = "zarr-v2"
    ZARR_V3 = "zarr-v3"
    NCZARR = "nczarr"
    #: The core protocol draft of May 2019.
    DRAFT_2019 = "zarr-v3-draft"
    #: The later drafts, with keys below ``meta/root/``.
    DRAFT_2020 = "zarr-v3-draft-2020"

    @classmethod
    def named(cls, name: str) -> Flavour:
        """Return the flavour of a name.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there is none of that name.
        """
        try:
            return cls(name)
        except ValueError:
            from refbrowser.errors import ErrorKind, RefbrowserError, quoted

            message = f"unknown flavour {quoted(name)}"
            raise RefbrowserError(ErrorKind.USAGE, message, advice=f"Known: {', '.join(cls)}.") from None

    @property
    def label(self) -> str:
        """Its name for people."""
        return _LABELS[self]

    @property
    def store_format(self) -> str:
        """The name of an opened store of this flavour, as in ``refbrowser export --to``."""
        return Flavour.DRAFT_2019.value if self is Flavour.DRAFT_2020 else self.value


_LABELS = {
    Flavour.ZARR_V2: "Zarr v2",
    Flavour.ZARR_V3: "Zarr v3",
    Flavour.NCZARR: "NCZarr",
    Flavour.DRAFT_2019: "Zarr v3 draft of 2019",
    Flavour.DRAFT_2020: "Zarr v3 draft of 2020",
}
