"""Builds what the encoder made, without any file: for tests of schemas and layouts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from awkward0_encoder import Encoder

from refbrowser.model.reference import ByteRange
from refbrowser.wings.awkward0.files.container import Blob
from refbrowser.wings.awkward0.layouts.building import Built, build_layout
from refbrowser.wings.awkward0.layouts.functions import AllowList, SchemaDocument
from refbrowser.wings.awkward0.layouts.layouts import BrokenLayout, Layout
from refbrowser.wings.awkward0.layouts.schema import read_schema
from refbrowser.wings.awkward0.reading.arrays import Awkward0Array


def schema_of(root: Any, **fields: Any) -> SchemaDocument:
    """Return the document of a root expression."""
    return read_schema(json.dumps({"awkward0": "0.15.5", "schema": root, **fields}).encode())


def built_of(root: Any, encoder: Encoder | None = None, allowed: Sequence[str] = (), **fields: Any) -> Built:
    """Return what a root expression builds out of the blobs of an encoder."""
    blobs = {} if encoder is None else encoder.blobs

    def find(name: str) -> Blob | None:
        if name not in blobs:
            return None
        size = len(blobs[name])
        return Blob(name, ByteRange("/file", 0, size), size, size)

    return build_layout(schema_of(root, **fields), find, AllowList.of_texts(allowed))


def layout_of(root: Any, encoder: Encoder | None = None, **more: Any) -> Layout:
    """Return the layout of a root expression."""
    return built_of(root, encoder, **more).layout


def error_of(root: Any, encoder: Encoder | None = None, **more: Any) -> tuple[str, str]:
    """Return the kind of error that a root expression is, and its message."""
    layout = layout_of(root, encoder, **more)
    assert isinstance(layout, BrokenLayout), layout
    return str(layout.error.kind), layout.error.message


def array_of(root: Any, encoder: Encoder | None = None, path: str = "/one", **more: Any) -> Awkward0Array:
    """Return the array of a root expression, as opening a file gives it."""
    schema = schema_of(root, **more)
    return Awkward0Array(path[1:], path, f"{path[1:]}.json", schema, built_of(root, encoder, **more))
