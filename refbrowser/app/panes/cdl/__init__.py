"""The dataset as CDL: the text, its colours, and finding in it."""
