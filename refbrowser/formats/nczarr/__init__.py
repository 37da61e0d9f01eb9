"""NCZarr, netCDF's own Zarr v2: dimensions, types of attributes and scalars in extra members."""
