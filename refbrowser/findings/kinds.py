"""The kinds of findings: what each means for those who read the data, here and with other software."""

from __future__ import annotations

from functools import partial

from refbrowser.errors import ErrorKind, Severity
from refbrowser.findings.finding import Finding, FindingKind, Remedy

FAULT, WARNING = Severity.FAULT, Severity.WARNING

# What is said of several kinds.

_AGAIN = "If the file was replaced, make its references again (File > Make references)."
_LOST = (
    "Only if its data are lost for good, remove the keys in References: their chunks then read as the fill "
    "value, and are marked as missing."
)
_NEIGHBOURS = "Compare offset and length with those of the neighbouring chunks in References."

_set, _stat, _sample = (partial(FindingKind, level=level) for level in ("set", "stat", "sample"))


# Known from the document alone

CHUNK_OUTSIDE_GRID = _set(
    code="chunk-outside-grid",
    severity=WARNING,
    error=ErrorKind.META,
    title="key outside the chunk grid",
    meaning="no reader requests it; often a shape, key or rule is wrong",
    advice="Remove the keys, or correct the shape of the array or the rule.",
)
KEY_NO_CHUNK = _set(
    code="key-no-chunk",
    severity=WARNING,
    error=ErrorKind.META,
    title="key that is not a chunk of its array",
    meaning="no reader requests it; the intended chunk reads as fill",
    advice="Correct the key: it has another form than the chunks of its array.",
)
RULE_NO_ARRAY = _set(
    code="rule-no-array",
    severity=WARNING,
    error=ErrorKind.META,
    title="rule for no array",
    meaning="none of its rows is ever read",
    advice="Correct the key of the rule, or delete the rule.",
)
RULE_NO_CHUNK = _set(
    code="rule-no-chunk",
    severity=WARNING,
    error=ErrorKind.META,
    title="rule whose rows never become chunks",
    meaning="none of its rows is read; the intended chunks read as fill",
    advice="Correct the key of the rule: it has another form than the chunks of the array.",
)
RULE_KEYS_REPEAT = _set(
    code="rule-keys-repeat",
    severity=WARNING,
    error=ErrorKind.REF,
    title="rows of a rule with the same key",
    meaning="readers see the last of them",
)
RULE_REPLACES = _set(
    code="rule-replaces",
    severity=WARNING,
    error=ErrorKind.REF,
    title="rule that replaces other entries",
    meaning="here and in fsspec the rule wins; readers without rules see the other",
    advice="Correct start or stop of the rule, or delete the keys that it replaces.",
)
RULE_FAULTY = _set(
    code="rule-faulty",
    severity=FAULT,
    error=ErrorKind.TEMPLATE,
    title="faulty rule",
    meaning="its rows cannot be made; fsspec fails on opening it with rules",
)
RULE_TEXTS = _set(
    code="rule-texts",
    severity=WARNING,
    error=ErrorKind.SCHEMA,
    title="texts in a dimension of a rule",
    meaning="the specification allows integers only",
)
TEMPLATE_UNUSED = _set(
    code="template-unused",
    severity=WARNING,
    error=ErrorKind.TEMPLATE,
    title="template that nothing uses",
    meaning="harmless; GDAL refuses documents with templates",
    advice="Delete it, or keep it.",
)
TEMPLATE_FAULTY = _set(
    code="template-faulty",
    severity=FAULT,
    error=ErrorKind.TEMPLATE,
    title="faulty template",
    meaning="what uses it cannot be read; fsspec fails or leaves it as it is",
    advice="Select the template in the hierarchy: the editor shows where it is wrong.",
)
MISSING_CHUNKS = _set(
    code="missing-chunks",
    severity=WARNING,
    error=ErrorKind.META,
    title="chunks missing in an otherwise full array",
    meaning="they read as fill in refbrowser, zarr-python and xarray",
    advice="A key or row of a rule is missing: compare start and stop of the rule with the shape of the "
    "array.",
)
RANGE_PAST_END = _set(
    code="range-past-end",
    severity=FAULT,
    error=ErrorKind.RANGE,
    title="range past the end of its file",
    meaning="an error, or the shorter rest fails to decode",
    advice=f"Bring the whole file back. {_AGAIN}",
)
RANGE_OFF_BY_ONE = _set(
    code="range-off-by-one",
    severity=FAULT,
    error=ErrorKind.RANGE,
    title="range that is off by one byte",
    meaning="the chunk fails to decode, or decodes to wrong values",
    advice=f"{_NEIGHBOURS} The editor corrects them.",
)
RANGE_OVERLAP = _set(
    code="range-overlap",
    severity=WARNING,
    error=ErrorKind.RANGE,
    title="ranges that overlap",
    meaning="one of the chunks is made of bytes of the other",
    advice=f"{_NEIGHBOURS} Often one is shifted, or a rule counts from another chunk.",
)
RANGE_REPEATED = _set(
    code="range-repeated",
    severity=WARNING,
    error=ErrorKind.RANGE,
    title="the same range twice",
    meaning="both chunks hold the same values",
    advice=f"{_NEIGHBOURS} Often one of the two has the offset of the other.",
)
LENGTH_UNDECODABLE = _set(
    code="length-undecodable",
    severity=FAULT,
    error=ErrorKind.RANGE,
    title="impossible chunk length",
    meaning="it cannot be decoded: an error in every reader",
    advice=f"{_NEIGHBOURS} {_AGAIN}",
)
NUMBER_IMPOSSIBLE = _set(
    code="number-impossible",
    severity=FAULT,
    error=ErrorKind.RANGE,
    title="impossible offset or length",
    meaning="an error in every reader",
)
URL_EMPTY = _set(
    code="url-empty",
    severity=FAULT,
    error=ErrorKind.REF,
    title="empty URL",
    meaning="an error here, and over fsspec (ReferenceNotReachable)",
    advice="Enter the URL in the editor, or delete the key.",
)
URL_OUTSIDE_FOLDER = _set(
    code="url-outside-folder",
    severity=WARNING,
    error=ErrorKind.REF,
    title="name that leads outside the document's folder",
    meaning="read where that is allowed; breaks when moved alone",
)
URL_SPELLED_TWICE = _set(
    code="url-spelled-twice",
    severity=WARNING,
    error=ErrorKind.REF,
    title="one file under two names",
    meaning="read and kept twice; a change between two reads is not noticed",
)
BASE64_LENIENT = _set(
    code="base64-lenient",
    severity=WARNING,
    error=ErrorKind.REF,
    title="base64 that only lenient readers accept",
    meaning="fsspec and zarr-python read it, strict decoders refuse it",
)
BASE64_WRONG = _set(
    code="base64-wrong",
    severity=FAULT,
    error=ErrorKind.REF,
    title="text that is not base64",
    meaning="it cannot be read",
)
CONSOLIDATED_DIFFERS = _set(
    code="consolidated-differs",
    severity=WARNING,
    error=ErrorKind.META,
    title="consolidated metadata that differs",
    meaning="readers that use it see a different array from those that do not",
)
KEY_REPEATED = _set(
    code="key-repeated",
    severity=WARNING,
    error=ErrorKind.REF,
    title="key that occurs more than once",
    meaning="the last one wins here and in Python",
)
KEY_IS_FOLDER = _set(
    code="key-is-folder",
    severity=WARNING,
    error=ErrorKind.REF,
    title="key that is file and folder",
    meaning="it cannot be written to a file system as it is",
)
NAMES_ALIKE = _set(
    code="names-alike",
    severity=WARNING,
    error=ErrorKind.REF,
    title="names that differ only by case or form",
    meaning="on some file systems they are the same",
)
MEMBER_REPEATED = _set(
    code="member-repeated",
    severity=WARNING,
    error=ErrorKind.SCHEMA,
    title="member that occurs more than once",
    meaning="the last one wins here and in Python",
)
MEMBER_UNKNOWN = _set(
    code="member-unknown",
    severity=WARNING,
    error=ErrorKind.SCHEMA,
    title="member that is in no specification",
    meaning="readers ignore it",
)
MEMBER_WRONG = _set(
    code="member-wrong",
    severity=FAULT,
    error=ErrorKind.SCHEMA,
    title="member of the wrong type",
    meaning="what it should hold is missing",
)
VERSION_MISSING = _set(
    code="version-missing",
    severity=FAULT,
    error=ErrorKind.SCHEMA,
    title="missing version",
    meaning="fsspec and GDAL read the document as Version 0",
)
BYTE_ORDER_MARK = _set(
    code="byte-order-mark",
    severity=WARNING,
    error=ErrorKind.ENCODING,
    title="byte-order mark",
    meaning="strict JSON readers refuse the document",
)
NOT_FINITE = _set(
    code="not-finite",
    severity=WARNING,
    error=ErrorKind.JSON,
    title="NaN or Infinity",
    meaning="strict JSON readers refuse the document",
)
NOT_ASCII = _set(
    code="not-ascii",
    severity=WARNING,
    error=ErrorKind.ENCODING,
    title="text that is not ASCII",
    meaning="its UTF-8 bytes are used",
)
OBJECT_VALUE = _set(
    code="object-value",
    severity=WARNING,
    error=ErrorKind.REF,
    title="object as a value",
    meaning="readers use its JSON text; the specification requires text",
)
SHUFFLE_NO_SIZE = _set(
    code="shuffle-no-size",
    severity=WARNING,
    error=ErrorKind.META,
    title="shuffle with elements of 0 bytes",
    meaning="other software gives different values",
)
MULTISCALES_WRONG = _set(
    code="multiscales-wrong",
    severity=FAULT,
    error=ErrorKind.META,
    title="wrong description of a multiscale image",
    meaning="viewers of the convention refuse the image; its arrays can be read",
    advice="Correct the attribute, as the convention describes it.",
)
LEVEL_MISSING = _set(
    code="level-missing",
    severity=FAULT,
    error=ErrorKind.META,
    title="level of a multiscale image that does not exist",
    meaning="viewers of the convention fail on it; the levels that exist can be read",
    advice="Correct the path of the level in the attribute, or add the array.",
)
LEVEL_SHAPES = _set(
    code="level-shapes",
    severity=WARNING,
    error=ErrorKind.META,
    title="levels that do not get smaller",
    meaning="viewers may show the wrong level, or one at the wrong size",
    advice="List the levels from the finest to the coarsest.",
)
LEVEL_TRANSFORM = _set(
    code="level-transform",
    severity=FAULT,
    error=ErrorKind.META,
    title="transform that gives no coordinates",
    meaning="viewers refuse the image, or show it in the wrong place",
    advice="Correct the transform: it needs one number for each axis.",
)
LOCK_INVALID = _set(
    code="lock-invalid",
    severity=WARNING,
    error=ErrorKind.FORMAT,
    title="file that is not a lock",
    meaning="files that were replaced are not noticed",
)
LOCK_UNREAD = _set(
    code="lock-unread",
    severity=WARNING,
    error=ErrorKind.SOURCE,
    title="lock that cannot be read",
    meaning="files that were replaced are not noticed",
)
NOT_DECIDED = _set(
    code="not-decided",
    severity=WARNING,
    error=ErrorKind.BUDGET,
    title="not decided",
    meaning="the search stopped at its limit: there may be more",
)

# Known where it is said what should be there

EXPECTED_MISSING = _set(
    code="expected-missing",
    severity=FAULT,
    error=ErrorKind.META,
    title="expected data that are missing",
    meaning="they read as fill, or are not on the axis at all",
    advice="Make or append what is missing; or change what is expected, where it never was there.",
)
EXPECTED_LATE = _set(
    code="expected-late",
    severity=FAULT,
    error=ErrorKind.META,
    title="data that are due and not there yet",
    meaning="the set ends earlier than it should by now",
    advice="Append them when they come; or allow them to be later (late).",
)
EXPECTED_INCOMPLETE = _set(
    code="expected-incomplete",
    severity=FAULT,
    error=ErrorKind.META,
    title="periods of which chunks are missing",
    meaning="the missing chunks read as fill",
    advice="Make the references of their files again.",
)
EXPECTED_DOUBLED = _set(
    code="expected-doubled",
    severity=WARNING,
    error=ErrorKind.META,
    title="more than is expected of one time",
    meaning="selecting that time gives several values, or fails in xarray",
    advice="Remove one of each.",
)
EXPECTED_EXTRA = _set(
    code="expected-extra",
    severity=WARNING,
    error=ErrorKind.META,
    title="what is there and not expected",
    meaning="nothing is wrong with it; it may be there by mistake",
    advice="Remove it, or change what is expected.",
)
EXPECTED_UNDECIDED = _set(
    code="expected-undecided",
    severity=FAULT,
    error=ErrorKind.BUDGET,
    title="expectation that cannot be decided",
    meaning="something that is expected may be missing",
)
EXPECTATION_INVALID = _set(
    code="expectation-invalid",
    severity=FAULT,
    error=ErrorKind.SCHEMA,
    title="expectation that cannot be used",
    meaning="nothing is held against it",
    advice="Correct the file beside the document, or write it again: refbrowser expect DOC.",
)

NOT_AS_DECLARED = _set(
    code="not-as-declared",
    severity=FAULT,
    error=ErrorKind.META,
    title="property that is not as declared",
    meaning="what relies on the declared type, chunks, codecs or units fails or misreads",
    advice="Correct the array, or what the file beside the document declares.",
)
DECLARATIONS_INVALID = _set(
    code="declarations-invalid",
    severity=FAULT,
    error=ErrorKind.SCHEMA,
    title="declarations that cannot be used",
    meaning="no array is held against them",
)

# Known by the kind of error alone

TEXT_NOT_JSON = _set(
    code="text-not-json",
    severity=FAULT,
    error=ErrorKind.JSON,
    title="text that is not JSON",
    meaning="it cannot be read as metadata",
)
TEXT_ENCODING = _set(
    code="text-encoding",
    severity=FAULT,
    error=ErrorKind.ENCODING,
    title="text in a wrong encoding",
    meaning="it cannot be read",
)
DOCUMENT_FORMAT = _set(
    code="document-format",
    severity=FAULT,
    error=ErrorKind.FORMAT,
    title="document of unknown format",
    meaning="it cannot be opened",
)
DOCUMENT_STRUCTURE = _set(
    code="document-structure",
    severity=WARNING,
    error=ErrorKind.SCHEMA,
    title="odd structure of the document",
    meaning="some of it may be missing",
)
TEMPLATE = _set(
    code="template",
    severity=WARNING,
    error=ErrorKind.TEMPLATE,
    title="odd template",
    meaning="what uses it may be missing",
)
REFERENCE = _set(
    code="reference",
    severity=WARNING,
    error=ErrorKind.REF,
    title="odd reference",
    meaning="it may be missing",
)
LIMIT = _set(
    code="limit",
    severity=WARNING,
    error=ErrorKind.BUDGET,
    title="limit reached",
    meaning="anything beyond it is not checked",
)
METADATA = _set(
    code="metadata",
    severity=WARNING,
    error=ErrorKind.META,
    title="odd metadata",
    meaning="the array or group may be missing or read differently",
)
DECODING = _set(
    code="decoding",
    severity=FAULT,
    error=ErrorKind.DECODE,
    title="invalid bytes",
    meaning="they cannot be read",
)
UNSAFE = _set(
    code="unsafe",
    severity=FAULT,
    error=ErrorKind.UNSAFE,
    title="data that would run code",
    meaning="it is refused",
)
PROTOCOL = _set(
    code="protocol",
    severity=FAULT,
    error=ErrorKind.PROTOCOL,
    title="protocol that is not supported",
    meaning="it cannot be read here",
)
USAGE = _set(
    code="usage", severity=FAULT, error=ErrorKind.USAGE, title="wrong use", meaning="nothing was checked"
)
PERMISSION = _set(
    code="permission",
    severity=WARNING,
    error=ErrorKind.BLOCKED,
    title="place that needs your permission",
    meaning="it was not checked",
)
SOURCE = _set(
    code="source",
    severity=FAULT,
    error=ErrorKind.SOURCE,
    title="source that fails",
    meaning="it cannot be read",
)
RANGE = _set(
    code="range", severity=FAULT, error=ErrorKind.RANGE, title="missing range", meaning="it cannot be read"
)
DISK = _set(
    code="disk", severity=FAULT, error=ErrorKind.IO, title="disk that fails", meaning="it cannot be read"
)

# Known once files were asked about

URL_DEAD = _stat(
    code="url-dead",
    severity=FAULT,
    error=ErrorKind.IO,
    title="missing file",
    meaning="an error here, and over fsspec (ReferenceNotReachable)",
    advice="Correct the template, rule or key that names it; if the file was moved, replace the beginning of "
    f"its URL; or bring the file back. {_LOST}",
    remedy=Remedy.PREFIX,
)
URL_UNREACHABLE = _stat(
    code="url-unreachable",
    severity=FAULT,
    error=ErrorKind.SOURCE,
    title="file that cannot be checked",
    meaning="an error in every reader while it lasts",
    advice="Try again later, or change the beginning of the URL to that of another server.",
    remedy=Remedy.PREFIX,
)
URL_MOVED = _stat(
    code="url-moved",
    severity=WARNING,
    error=ErrorKind.SOURCE,
    title="file that was moved",
    meaning="each read costs two requests, and the redirect may go away",
    advice="Use the new URL.",
    remedy=Remedy.PREFIX,
)
URL_CREDENTIALS = _stat(
    code="url-credentials",
    severity=FAULT,
    error=ErrorKind.SOURCE,
    title="file behind credentials",
    meaning="an error without them, in every reader",
    advice="Edit > Preferences > Connections shows what is sent to this server.",
    remedy=Remedy.PREFIX,
)
URL_NO_RANGES = _stat(
    code="url-no-ranges",
    severity=WARNING,
    error=ErrorKind.SOURCE,
    title="server that does not serve ranges",
    meaning="readers fail, or load the whole file",
    advice="Copy the file to a server that serves ranges, and replace the beginning of the URL.",
)
URL_UNREADABLE = _stat(
    code="url-unreadable",
    severity=FAULT,
    error=ErrorKind.PROTOCOL,
    title="URL that can never be read",
    meaning="its protocol is not known here, or it is refused for safety",
    advice="Replace the beginning of the URL.",
    remedy=Remedy.PREFIX,
)
IDENTITY_CHANGED = _stat(
    code="identity-changed",
    severity=FAULT,
    error=ErrorKind.SOURCE,
    title="file that changed meanwhile",
    meaning="chunks of two versions are mixed",
    advice="Reload the document, and audit it again.",
)
IDENTITY_VARIES = _stat(
    code="identity-varies",
    severity=WARNING,
    error=ErrorKind.SOURCE,
    title="file whose entity tag varies",
    meaning="mirrors give it; size and time agree",
)
STALE_FILE = _stat(
    code="stale-file",
    severity=WARNING,
    error=ErrorKind.SOURCE,
    title="file that differs from the lock",
    meaning="its chunks may be wrong; reads fail unless allowed",
    advice="Accept the new state if the file was replaced on purpose; else bring the old one back.",
)
FILE_GONE = _stat(
    code="file-gone",
    severity=FAULT,
    error=ErrorKind.SOURCE,
    title="locked file that is missing",
    meaning="an error in every reader",
)
FILE_UNDECIDED = _stat(
    code="file-undecided",
    severity=WARNING,
    error=ErrorKind.SOURCE,
    title="file that cannot be compared with the lock",
    meaning="it may be the wrong file",
)
FILE_UNCONFIRMED = _stat(
    code="file-unconfirmed",
    severity=WARNING,
    error=ErrorKind.SOURCE,
    title="file that the lock does not confirm",
    meaning="its size and ends match, its time or ETag does not: its middle may differ",
)
FILE_ENDS_ONLY = _stat(
    code="file-ends-only",
    severity=WARNING,
    error=ErrorKind.SOURCE,
    title="file whose lock has no digest of all its bytes",
    meaning="a change in its middle would not be seen",
)
FILE_NOT_LOCKED = _stat(
    code="file-not-locked",
    severity=WARNING,
    error=ErrorKind.SOURCE,
    title="file that is not in the lock",
    meaning="a replacement would not be noticed",
)

# Known once chunks were read

UNDECODABLE = _sample(
    code="undecodable",
    severity=FAULT,
    error=ErrorKind.DECODE,
    title="chunk that cannot be decoded",
    meaning="an error in every reader",
    advice="Its bytes are not those of the chunk: the offset is wrong, or the file is a different one. "
    f"{_NEIGHBOURS} {_AGAIN} {_LOST}",
)
CHUNK_UNREADABLE = _sample(
    code="chunk-unreadable",
    severity=FAULT,
    error=ErrorKind.SOURCE,
    title="chunk that cannot be read",
    meaning="an error in every reader",
    advice=f"Explain shows the step that fails. {_AGAIN}",
)
ARRAY_UNREADABLE = _sample(
    code="array-unreadable",
    severity=FAULT,
    error=ErrorKind.META,
    title="array that cannot be read",
    meaning="its codecs or metadata are unknown or wrong",
)
ALL_FILL = _sample(
    code="all-fill",
    severity=WARNING,
    error=ErrorKind.META,
    title="chunk that holds only fill values",
    meaning="it looks like a missing chunk",
    advice="Check whether the file holds values there: if so, the offset is wrong.",
)
VALUE_OUTSIDE_RANGE = _sample(
    code="value-outside-range",
    severity=WARNING,
    error=ErrorKind.META,
    title="values outside the valid range",
    meaning="readers of CF mask them; often bytes, scale or type are wrong",
    advice="If the numbers make no sense, bytes of another chunk or type are read. If they do, "
    "correct valid_range.",
)

VALUE_NOT_AS_DECLARED = _sample(
    code="value-not-as-declared",
    severity=FAULT,
    error=ErrorKind.META,
    title="values outside the declared range",
    meaning="often bytes, scale or units are wrong",
    advice="Compare packing, units and type with what is declared, or correct the declared range.",
)

#: Every kind of finding, by its code.
KINDS = {kind.code: kind for kind in tuple(globals().values()) if isinstance(kind, FindingKind)}
#: What a finding is of which its kind of error says all.
OF_ERRORS = {
    kind.error: kind
    for kind in (
        TEXT_NOT_JSON, TEXT_ENCODING, DOCUMENT_FORMAT, DOCUMENT_STRUCTURE, TEMPLATE, REFERENCE, LIMIT,
        METADATA, DECODING, UNSAFE, PROTOCOL, USAGE, PERMISSION, SOURCE, RANGE, DISK,
    )
}  # fmt: skip


def kind_of(finding: Finding) -> FindingKind:
    """Return what kind of finding it is."""
    return finding.what or OF_ERRORS[finding.kind]
