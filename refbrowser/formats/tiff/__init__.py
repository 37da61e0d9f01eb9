"""TIFF, GeoTIFF and COG: opened as references into the file."""
