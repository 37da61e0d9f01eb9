"""Values of layouts by rows: only what the rows need is read, and all of it is checked before it is used."""

from refbrowser.formats.awkward0_rows.layout_values import LayoutValues

__all__ = ["LayoutValues"]
