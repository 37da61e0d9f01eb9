"""What can be done about each kind of finding, in the words of the window."""

from __future__ import annotations

_AGAIN = "If the file was replaced, make its references again (File > Make references)."
_LOST = (
    "Only if its data are lost for good, remove the keys in References: their chunks then read as the fill "
    "value, and are marked as missing."
)
_NEIGHBOURS = "Compare offset and length with those of the neighbouring chunks in References."
_ADVICE = {
    "url-dead": (
        "Correct the template, rule or key that names it; if the file was moved, replace the beginning of "
        f"its URL; or bring the file back. {_LOST}"
    ),
    "url-unreachable": "Try again later, or change the beginning of the URL to that of another server.",
    "url-moved": "Use the new URL.",
    "url-credentials": "Edit > Preferences > Connections shows what is sent to this server.",
    "url-no-ranges": "Copy the file to a server that serves ranges, and replace the beginning of the URL.",
    "url-unreadable": "Replace the beginning of the URL.",
    "url-empty": "Enter the URL in the editor, or delete the key.",
    "identity-changed": "Reload the document, and audit it again.",
    "range-past-end": f"Bring the whole file back. {_AGAIN}",
    "range-off-by-one": f"{_NEIGHBOURS} The editor corrects them.",
    "range-overlap": f"{_NEIGHBOURS} Often one is shifted, or a rule counts from another chunk.",
    "range-repeated": f"{_NEIGHBOURS} Often one of the two has the offset of the other.",
    "undecodable": (
        "Its bytes are not those of the chunk: the offset is wrong, or the file is a different one. "
        f"{_NEIGHBOURS} {_AGAIN} {_LOST}"
    ),
    "chunk-unreadable": f"Explain shows the step that fails. {_AGAIN}",
    "length-undecodable": f"{_NEIGHBOURS} {_AGAIN}",
    "missing-chunks": (
        "A key or row of a rule is missing: compare start and stop of the rule with the shape of the array."
    ),
    "chunk-outside-grid": "Remove the keys, or correct the shape of the array or the rule.",
    "key-no-chunk": "Correct the key: it has another form than the chunks of its array.",
    "rule-no-chunk": "Correct the key of the rule: it has another form than the chunks of the array.",
    "rule-no-array": "Correct the key of the rule, or delete the rule.",
    "rule-replaces": "Correct start or stop of the rule, or delete the keys that it replaces.",
    "template-faulty": "Select the template in the hierarchy: the editor shows where it is wrong.",
    "template-unused": "Delete it, or keep it.",
    "all-fill": "Check whether the file holds values there: if so, the offset is wrong.",
    "value-outside-range": (
        "If the numbers make no sense, bytes of another chunk or type are read. If they do, "
        "correct valid_range."
    ),
    "stale-file": "Accept the new state if the file was replaced on purpose; else bring the old one back.",
}


def advice_on(code: str) -> str:
    """Return what can be done about findings of a code, in sentences; empty where that depends."""
    return _ADVICE.get(code, "")
