"""The forms in which datasets are written: each says only what is its own."""
