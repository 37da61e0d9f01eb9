"""The NCZarr abstract data model: what netCDF sees in a dataset of any format."""
