"""XML of any texts: characters that it has no form for are replaced."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, indent, tostring

#: What XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def safe(text: str) -> str:
    """Return a text as XML can hold it."""
    return _FORBIDDEN.sub("\ufffd", text)


def document(root: Element) -> str:
    """Return a document with its declaration, indented."""
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, "unicode")}\n'
