"""Indexes of GRIB files: what messages a file has, and where, as wgrib2 and ECMWF write it."""
