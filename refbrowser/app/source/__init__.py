"""The text of a document in the window: shown, searched, edited, mended."""
