"""What holds schemas and blobs: zip archives, folders, HDF5 files."""
