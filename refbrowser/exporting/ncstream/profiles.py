"""What other readers make of what a stream in the profile for them holds."""

from __future__ import annotations

from collections.abc import Iterator

from refbrowser.formats.ncstream.definition import DataType, StreamVariable
from refbrowser.formats.ncstream.definition_of import StreamedDataset, StreamLoss
from refbrowser.formats.ncstream.dtypes import is_ragged


def compatible_notes(streamed: StreamedDataset) -> Iterator[StreamLoss]:
    """Yield what siphon does not understand although the grammar and the Java readers do (wire notes, 5)."""
    for each in streamed.variables:
        path, variable = each.node.path, each.variable
        if each.path.count("/") > 2:
            yield StreamLoss(path, "siphon does not find variables of groups more than one deep")
        if variable.type in (DataType.STRING, DataType.OPAQUE) and len(variable.shape) > 1:
            yield StreamLoss(path, "siphon reads texts and opaque values along one dimension")
        if is_ragged(variable) and len(variable.shape) > 1:
            yield StreamLoss(path, "siphon reads ragged rows along one dimension")
        if variable.type is DataType.STRUCTURE and not all(map(_is_scalar_number, variable.members)):
            yield StreamLoss(path, "siphon reads only structures of single numbers")
        if each.node.is_sequence:
            yield StreamLoss(path, "the sequence is written as structures: siphon reads no header with one")


def _is_scalar_number(member: StreamVariable) -> bool:
    return member.type.dtype is not None and not member.dimensions


def is_last(variable: StreamVariable) -> bool:
    """Tell whether a message comes behind the others: the Java reader loses its place there."""
    return variable.type in (DataType.STRING, DataType.OPAQUE, DataType.SEQUENCE)
