"""Files of netCDF-4: how they are written, read again, and read by other software."""
