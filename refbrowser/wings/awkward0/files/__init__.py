"""Archives, folders and HDF5 files, and the blobs in them."""
