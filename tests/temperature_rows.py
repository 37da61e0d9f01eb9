"""Streams of one variable ``temp(time, x)``: a header, and messages with rows of it."""

from __future__ import annotations

import zlib

import numpy as np
import stream_encoder as enc

#: Elements of a row.
SIDE = 6


def rows_of(values: np.ndarray, order: str = ">", *, deflated: bool = False, start: int = 0) -> bytes:
    """Return a message with rows of ``temp``."""
    payload = values.astype(f"{order}f4").tobytes()
    facts = {"compress": enc.DEFLATE, "uncompressed": len(payload)} if deflated else {}
    ranges = [(start, len(values), None), (0, SIDE, None)]
    body = enc.data_body("temp", enc.FLOAT, ranges, bigend=order == ">", **facts)
    return enc.data(body, enc.regular(zlib.compress(payload) if deflated else payload))


def head(rows: int) -> bytes:
    shape = [enc.dimension("time", rows, unlimited=True), enc.dimension("x", SIDE)]
    return enc.header(enc.group(dimensions=shape, variables=[enc.variable("temp", enc.FLOAT, shape)]))
