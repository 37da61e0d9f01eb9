"""Zarr v2 and v3: metadata to the model."""
