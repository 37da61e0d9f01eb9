"""Writing DMR++."""
