"""What reports and lines say of findings: where one is, and what to do about it."""

from __future__ import annotations

from refbrowser.findings.finding import Finding


def place_words(finding: Finding) -> str:
    """Return where a finding is: key or pointer, line, bytes."""
    place = finding.place
    parts = []
    if place.rule is not None:
        row = f", row {place.row}" if place.row is not None else ""
        parts.append(f"rule {place.rule}{f' {place.field}' if place.field else ''}{row}")
    if place.key is not None:
        parts.append(place.key)
    elif place.path is not None:
        parts.append(place.path)
    elif place.pointer and place.rule is None:
        parts.append(place.pointer)
    if place.line is not None and place.is_in_document:
        parts.append(f"line {place.line}")
    if place.start is not None:
        parts.append(f"bytes {place.start} to {'the end' if place.stop is None else place.stop}")
    return ", ".join(parts)


def remedy_words(finding: Finding) -> str:
    """Return what repairs a finding, and what else can be done about it, in sentences without a full stop."""
    told = ("" if finding.fix is None else finding.fix.title, finding.advice)
    return ". ".join(text[:1].upper() + text[1:] for text in told if text)
