"""HDF5, and netCDF-4 in it: opened as references into the file."""
