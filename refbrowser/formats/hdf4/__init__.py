"""HDF4: scientific data sets, groups and attributes, with grids and swaths of HDF-EOS2."""
