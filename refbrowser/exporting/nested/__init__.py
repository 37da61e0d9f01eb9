"""Exports by rows: any dataset as nested arrays, block by block, and nested arrays as growing buffers."""
