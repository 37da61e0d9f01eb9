"""Stores (folders, zip files, URL prefixes) as reference documents that point into them."""
