"""DMR++: descriptions of HDF5 files by OPeNDAP, with the place of each chunk."""
