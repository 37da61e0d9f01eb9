"""The v3 core protocol drafts of Zarr: that of May 2019 in full, the later ones for reading."""
