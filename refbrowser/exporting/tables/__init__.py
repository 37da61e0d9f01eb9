"""Parquet and Feather from the arrays of any dataset: rows read, converted and written block by block."""
