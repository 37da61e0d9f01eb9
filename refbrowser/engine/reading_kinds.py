"""Which `Reading` an array of a kind of values has: the one place that tells the kinds apart.

What reads arrays of a kind is imported with the first of them: few documents have nested ones.
"""

from __future__ import annotations

from refbrowser.engine.reading.reader import Reading
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.values import Chunks, NoValues, Pieces, Rows


def reading_of(node: ArrayNode) -> Reading:
    """Return how an array is read.

    Raises
    ------
    RefbrowserError
        It has encoded chunks, and why these cannot be decoded; what else is not readable is told when it is
        read.
    """
    match node.values:
        case Rows():
            from refbrowser.engine.nested.row_parts import RowReading

            return RowReading(node)
        case Pieces(source=source):
            from refbrowser.engine.reading.pieces import PieceReading

            return PieceReading(node, source)
        case Chunks() | NoValues():
            from refbrowser.engine.reading.chunks import ChunkReading

            return ChunkReading(node)
        case _:
            from refbrowser.engine.derived.derived_reading import DerivedReading
            from refbrowser.engine.derived.derived_values import Derived

            assert isinstance(node.values, Derived)
            return DerivedReading(node, node.values)
