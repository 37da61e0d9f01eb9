"""The kinds of findings: what each code means for those who read the data, here and with other software."""

from __future__ import annotations

from dataclasses import dataclass

from refbrowser.errors import ErrorKind, Finding


@dataclass(frozen=True, slots=True)
class FindingKind:
    """One kind of finding.

    Attributes
    ----------
    code
        Its stable name: what ``--fail-on`` takes.
    level
        The first level of an audit that finds it: ``set``, ``stat`` or ``sample``.
    title
        What it is, in a few words.
    meaning
        What it means for a reader.
    """

    code: str
    level: str
    title: str
    meaning: str


_SET = (
    (
        "chunk-outside-grid",
        "key outside the chunk grid",
        "no reader requests it; often a shape, key or rule is wrong",
    ),
    (
        "key-no-chunk",
        "key that is not a chunk of its array",
        "no reader requests it; the intended chunk reads as fill",
    ),
    ("rule-no-array", "rule for no array", "none of its rows is ever read"),
    (
        "rule-no-chunk",
        "rule whose rows never become chunks",
        "none of its rows is read; the intended chunks read as fill",
    ),
    ("rule-keys-repeat", "rows of a rule with the same key", "readers see the last of them"),
    (
        "rule-replaces",
        "rule that replaces other entries",
        "here and in fsspec the rule wins; readers without rules see the other",
    ),
    (
        "rule-faulty",
        "faulty rule",
        "its rows cannot be made; fsspec fails on opening it with rules",
    ),
    (
        "rule-texts",
        "texts in a dimension of a rule",
        "the specification allows integers only",
    ),
    (
        "template-unused",
        "template that nothing uses",
        "harmless; GDAL refuses documents with templates",
    ),
    ("template-faulty", "faulty template", "what uses it cannot be read; fsspec fails or leaves it as it is"),
    (
        "missing-chunks",
        "chunks missing in an otherwise full array",
        "they read as fill in refbrowser, zarr-python and xarray",
    ),
    (
        "range-past-end",
        "range past the end of its file",
        "an error, or the shorter rest fails to decode",
    ),
    (
        "range-off-by-one",
        "range that is off by one byte",
        "the chunk fails to decode, or decodes to wrong values",
    ),
    ("range-overlap", "ranges that overlap", "one of the chunks is made of bytes of the other"),
    ("range-repeated", "the same range twice", "both chunks hold the same values"),
    ("length-undecodable", "impossible chunk length", "it cannot be decoded: an error in every reader"),
    ("number-impossible", "impossible offset or length", "an error in every reader"),
    ("url-empty", "empty URL", "an error here, and over fsspec (ReferenceNotReachable)"),
    (
        "url-outside-folder",
        "name that leads outside the document's folder",
        "read where that is allowed; breaks when moved alone",
    ),
    (
        "url-spelled-twice",
        "one file under two names",
        "read and kept twice; a change between two reads is not noticed",
    ),
    (
        "base64-lenient",
        "base64 that only lenient readers accept",
        "fsspec and zarr-python read it, strict decoders refuse it",
    ),
    ("base64-wrong", "text that is not base64", "it cannot be read"),
    (
        "consolidated-differs",
        "consolidated metadata that differs",
        "readers that use it see a different array from those that do not",
    ),
    ("key-repeated", "key that occurs more than once", "the last one wins here and in Python"),
    ("key-is-folder", "key that is file and folder", "it cannot be written to a file system as it is"),
    ("names-alike", "names that differ only by case or form", "on some file systems they are the same"),
    ("member-repeated", "member that occurs more than once", "the last one wins here and in Python"),
    ("member-unknown", "member that is in no specification", "readers ignore it"),
    ("member-wrong", "member of the wrong type", "what it should hold is missing"),
    ("version-missing", "missing version", "fsspec and GDAL read the document as Version 0"),
    ("byte-order-mark", "byte-order mark", "strict JSON readers refuse the document"),
    ("not-finite", "NaN or Infinity", "strict JSON readers refuse the document"),
    ("not-ascii", "text that is not ASCII", "its UTF-8 bytes are used"),
    ("object-value", "object as a value", "readers use its JSON text; the specification requires text"),
    (
        "shuffle-no-size",
        "shuffle with elements of 0 bytes",
        "other software gives different values",
    ),
    ("lock-invalid", "file that is not a lock", "files that were replaced are not noticed"),
    ("lock-unread", "lock that cannot be read", "files that were replaced are not noticed"),
    ("not-decided", "not decided", "the search stopped at its limit: there may be more"),
)
_STAT = (
    (
        "url-dead",
        "missing file",
        "an error here, and over fsspec (ReferenceNotReachable)",
    ),
    ("url-unreachable", "file that cannot be checked", "an error in every reader while it lasts"),
    (
        "url-moved",
        "file that was moved",
        "each read costs two requests, and the redirect may go away",
    ),
    ("url-credentials", "file behind credentials", "an error without them, in every reader"),
    ("url-no-ranges", "server that does not serve ranges", "readers fail, or load the whole file"),
    (
        "url-unreadable",
        "URL that can never be read",
        "its protocol is not known here, or it is refused for safety",
    ),
    (
        "identity-changed",
        "file that changed meanwhile",
        "chunks of two versions are mixed",
    ),
    ("identity-varies", "file whose entity tag varies", "mirrors give it; size and time agree"),
    (
        "stale-file",
        "file that differs from the lock",
        "its chunks may be wrong; reads fail unless allowed",
    ),
    ("file-gone", "locked file that is missing", "an error in every reader"),
    ("file-undecided", "file that cannot be compared with the lock", "it may be the wrong file"),
    (
        "file-unconfirmed",
        "file that the lock does not confirm",
        "its size and ends match, its time or ETag does not: its middle may differ",
    ),
    (
        "file-ends-only",
        "file whose lock has no digest of all its bytes",
        "a change in its middle would not be seen",
    ),
    ("file-not-locked", "file that is not in the lock", "a replacement would not be noticed"),
)
_SAMPLE = (
    ("undecodable", "chunk that cannot be decoded", "an error in every reader"),
    ("chunk-unreadable", "chunk that cannot be read", "an error in every reader"),
    ("array-unreadable", "array that cannot be read", "its codecs or metadata are unknown or wrong"),
    (
        "all-fill",
        "chunk that holds only fill values",
        "it looks like a missing chunk",
    ),
    (
        "value-outside-range",
        "values outside the valid range",
        "readers of CF mask them; often bytes, scale or type are wrong",
    ),
)
#: Of findings without a code of their own, by their kind.
_PLAIN = (
    ("text-not-json", "text that is not JSON", "it cannot be read as metadata", ErrorKind.JSON),
    ("text-encoding", "text in a wrong encoding", "it cannot be read", ErrorKind.ENCODING),
    ("document-format", "document of unknown format", "it cannot be opened", ErrorKind.FORMAT),
    ("document-structure", "odd structure of the document", "some of it may be missing", ErrorKind.SCHEMA),
    ("template", "odd template", "what uses it may be missing", ErrorKind.TEMPLATE),
    ("reference", "odd reference", "it may be missing", ErrorKind.REF),
    ("limit", "limit reached", "anything beyond it is not checked", ErrorKind.BUDGET),
    ("metadata", "odd metadata", "the array or group may be missing or read differently", ErrorKind.META),
    ("decoding", "invalid bytes", "they cannot be read", ErrorKind.DECODE),
    ("unsafe", "data that would run code", "it is refused", ErrorKind.UNSAFE),
    ("protocol", "protocol that is not supported", "it cannot be read here", ErrorKind.PROTOCOL),
    ("usage", "wrong use", "nothing was checked", ErrorKind.USAGE),
    ("permission", "place that needs your permission", "it was not checked", ErrorKind.BLOCKED),
    ("source", "source that fails", "it cannot be read", ErrorKind.SOURCE),
    ("range", "missing range", "it cannot be read", ErrorKind.RANGE),
    ("disk", "disk that fails", "it cannot be read", ErrorKind.IO),
)

#: Every kind of finding, by its code.
KINDS: dict[str, FindingKind] = {
    code: FindingKind(code, level, title, meaning)
    for level, rows in (("set", _SET), ("stat", _STAT), ("sample", _SAMPLE))
    for code, title, meaning in rows
} | {code: FindingKind(code, "set", title, meaning) for code, title, meaning, _ in _PLAIN}
_BY_KIND = {kind: code for code, _, _, kind in _PLAIN}


def code_of(finding: Finding) -> str:
    """Return the code of a finding; of one that has none that of its kind."""
    return finding.code or _BY_KIND[finding.kind]


def kind_of(finding: Finding) -> FindingKind:
    """Return what kind of finding it is; of codes of other packages just the code is known."""
    code = code_of(finding)
    return KINDS.get(code) or FindingKind(code, "set", code, "")
