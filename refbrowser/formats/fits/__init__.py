"""FITS: images and tables, as references into the file."""
