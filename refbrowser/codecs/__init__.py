"""Chunk bytes to arrays and back."""

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.table import known_codecs

__all__ = ["CodecPipeline", "known_codecs"]
