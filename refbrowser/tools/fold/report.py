"""Folding told in words: what it comes to, what stays and why, and what other software makes of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from refbrowser.views.speed import SEPARATOR, Speed, speed_words
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_spaced, plural, size_text, time_text

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobStatus
    from refbrowser.references.document.fold import Folding, Kept, NewRule

#: What fsspec takes to make one reference of a rule, in seconds, about; and from how long on it is told.
_RENDERED, _TOLD = 0.001, 5.0
#: Part of a text from which on it is nothing but references.
_NEARLY_ALL = 0.95


def progress_of(status: JobStatus, speed: Speed) -> str:
    """Return how far folding is, and how fast it goes on."""
    if not status.total:
        return ""
    words = [f"{count_text(status.done)} of {counted_spaced(status.total, 'reference')}"]
    words += [f"{count_text(round(speed.rate))} references/s"] if speed.rate >= 1 else []
    return SEPARATOR.join([*words, *speed_words(speed)])


def summary_of(folding: Folding) -> str:
    """Return in one sentence what folding comes to."""
    if not folding.is_smaller:
        return (
            "Nothing to fold: rules and templates would not make this document "
            f"({size_text(folding.size_before)}) smaller."
        )
    made = [
        counted_spaced(folding.folded, "reference") + f" in {counted_spaced(len(folding.rules), 'gen rule')}"
    ]
    made = made if folding.rules else []
    made += [counted_spaced(len(folding.templates), "template")] if folding.templates else []
    return (
        f"{size_text(folding.size_before)} become {size_text(folding.size_after)} "
        f"({_percent(folding.size_after, folding.size_before)}): {', '.join(made)}."
    )


def references_of(folding: Folding) -> str:
    """Return what becomes of references alone, where much else is there, which is never folded."""
    before, after = folding.references_before, folding.references_after
    if not folding.is_smaller or before > _NEARLY_ALL * folding.size_before:
        return ""
    return (
        f"References: {size_text(before)} become {size_text(after)} ({_percent(after, before)}); "
        "metadata and values stay as they are."
    )


def _percent(part: int, whole: int) -> str:
    percent = 100 * part / whole
    return f"{percent:.0f} %" if percent >= 1 else f"{percent:.2g} %"


def proof_of(folding: Folding) -> str:
    """Return what was compared."""
    return (
        f"Proved: all {counted_spaced(folding.compared, 'reference')} with a URL are the same before and "
        "after, those of rules and those that stay."
    )


def notes_of(folding: Folding) -> tuple[str, ...]:
    """Return what is to be known before it is done."""
    seconds = folding.folded * _RENDERED
    if seconds < _TOLD:
        return folding.notes
    slow = (
        "fsspec makes the references of gen rules one by one when it opens the document: "
        f"about {time_text(seconds)}."
    )
    return (*folding.notes, slow)


def rule_line(rule: NewRule) -> str:
    """Return a rule in one line."""
    return one_line(f"{rule.fields['key']}: {counted_spaced(rule.keys, 'reference')}")


def rule_text(rule: NewRule) -> str:
    """Return a rule as JSON, a member a line."""
    members = (f'  "{name}": {json.dumps(value, ensure_ascii=False)}' for name, value in rule.fields.items())
    return "{\n" + ",\n".join(members) + "\n}"


def dimensions_text(rule: NewRule) -> str:
    """Return the dimensions of a rule: ``i = 0 … 11, j = 3 … 30 step 3``."""
    dimensions = rule.fields["dimensions"]
    assert isinstance(dimensions, dict)
    return ", ".join(f"{name} = {_values(each)}" for name, each in dimensions.items())


def _values(dimension: dict[str, int]) -> str:
    start, stop, step = dimension.get("start", 0), dimension["stop"], dimension.get("step", 1)
    last = start + (stop - 1 - start) // step * step
    return f"{start} … {last}" + (f" step {step}" if step != 1 else "")


def reason_text(kept: Kept) -> str:
    """Return why keys stay, as a sentence begins."""
    return kept.reason[:1].upper() + kept.reason[1:]


def kept_text(kept: Kept) -> str:
    """Return some of the keys that stay for one reason, and what there is to say of it."""
    return f"{_kept_keys(kept)}\n\n{kept.advice}".rstrip()


def _kept_keys(kept: Kept) -> str:
    return ", ".join(map(one_line, kept.keys)) + (", …" if kept.count > len(kept.keys) else "")


def kept_line(kept: Kept) -> str:
    """Return what stays for one reason in one line, with some of the keys."""
    stay = plural(kept.count, "stays", "stay")
    return one_line(f"{counted_spaced(kept.count, 'key')} {stay}: {kept.reason} ({_kept_keys(kept)})")
