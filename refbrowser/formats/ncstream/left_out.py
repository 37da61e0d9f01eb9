"""What a repair left out of a stream: kept as an attribute of the repaired stream, told by who opens it.

Other software reads what is lost as fill values; the attribute says which values that may be.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from refbrowser.errors import ErrorKind, Finding, Place, Severity, quoted
from refbrowser.formats.ncstream.definition import DataType, StreamAttribute, StreamDefinition, StreamGroup
from refbrowser.formats.ncstream.encoding import header_message

#: Attribute of the root: a JSON text for each message.
LEFT_OUT = "_refbrowser_left_out"
#: Messages that are told one by one.
_MOST = 1000


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One message that a repair left out.

    Attributes
    ----------
    text
        Which it was, and why it is lost.
    variable
        Path of the variable that it is about; None where it may have held, or hidden, values of any.
    section
        The elements that it was to give, as they are selected: ``0:3, 10:20:2``; empty where that is not
        known.
    """

    text: str
    variable: str | None = None
    section: str = ""

    @property
    def finding(self) -> Finding:
        """As damage of whatever the values are of."""
        about = "values of any variable" if self.variable is None else f"values of {self.variable}"
        section = f" [{self.section}]" if self.section else ""
        return Finding(
            severity=Severity.WARNING,
            kind=ErrorKind.FORMAT,
            message=f"lost: {about}{section} may be missing since the stream was repaired: {self.text}",
            place=Place(path=self.variable),
            advice="what is lost reads as the fill value",
            is_loss=True,
        )


def left_out_message(definition: StreamDefinition, lost: Iterable[LeftOut]) -> bytes:
    """Return the header message that tells what is left out, now and by repairs before."""
    texts = list(_texts(definition))
    more = 0
    for each in lost:
        if len(texts) < _MOST:
            facts = {"text": each.text, "variable": each.variable, "section": each.section}
            texts.append(json.dumps(facts, ensure_ascii=False))
        else:
            more += 1
    if more:
        texts.append(json.dumps({"text": f"and {more} messages more"}))
    attribute = StreamAttribute(LEFT_OUT, DataType.STRING, tuple(texts))
    return header_message(StreamDefinition(root=StreamGroup(attributes={LEFT_OUT: attribute})))


def left_out(definition: StreamDefinition) -> Iterator[LeftOut]:
    """Yield what the repairs of a stream have left out, as it tells it."""
    for text in _texts(definition):
        try:
            facts = json.loads(text)
        except (ValueError, RecursionError):
            facts = None
        if not isinstance(facts, dict) or not isinstance(facts.get("text"), str):
            yield LeftOut(quoted(text))
            continue
        variable, section = facts.get("variable"), facts.get("section")
        yield LeftOut(
            facts["text"],
            variable if isinstance(variable, str) and variable.startswith("/") else None,
            section if isinstance(section, str) else "",
        )


def _texts(definition: StreamDefinition) -> Iterator[str]:
    attribute = definition.root.attributes.get(LEFT_OUT)
    values = () if attribute is None else attribute.values[: _MOST + 1]
    return (value for value in values if isinstance(value, str))
