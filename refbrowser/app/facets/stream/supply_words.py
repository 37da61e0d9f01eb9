"""Which messages gave an element, as words."""

from __future__ import annotations

from collections.abc import Sequence

#: Messages that are named.
_NAMED = 4


def supplied_words(messages: Sequence[int]) -> str:
    """Return which message supplied an element and which ones it replaced; `messages` in their order."""
    if not messages:
        return "never sent: fill value"
    replaced = list(reversed(messages[:-1]))
    words = f"message {messages[-1]}"
    if replaced:
        more = f" and {len(replaced) - _NAMED} more" if len(replaced) > _NAMED else ""
        words += f", replaced {', '.join(map(str, replaced[:_NAMED]))}{more}"
    return words
