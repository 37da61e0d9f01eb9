"""The kinds of findings about descriptions of files."""

from __future__ import annotations

from functools import partial

from refbrowser.errors import ErrorKind
from refbrowser.findings.finding import FindingKind
from refbrowser.findings.kinds import FAULT, WARNING

_set = partial(FindingKind, level="set")

_DESCRIBE = "Describe the file again: build_dmrpp, or `refbrowser export FILE OUT --to dmrpp`."
DESCRIPTION_STALE = _set(
    code="description-stale",
    severity=WARNING,
    error=ErrorKind.SOURCE,
    title="file that changed after it was described",
    meaning="values may be others than were described, or none at all",
    advice=_DESCRIBE,
)
DESCRIPTION_DIFFERS = _set(
    code="description-differs",
    severity=FAULT,
    error=ErrorKind.RANGE,
    title="array that is at another place of its file than described",
    meaning="the chunk fails to decode, or decodes to wrong values",
    advice=_DESCRIBE,
)
DESCRIPTION_NOT_HDF5 = _set(
    code="description-not-hdf5",
    severity=FAULT,
    error=ErrorKind.FORMAT,
    title="described file that is not HDF5",
    meaning="its bytes are something else than was described",
    advice=f"Bring the file back, or open the one that is meant. {_DESCRIBE}",
)
DESCRIPTION_UNREAD = _set(
    code="description-unread",
    severity=WARNING,
    error=ErrorKind.SOURCE,
    title="described file that was not compared",
    meaning="whether it is still the file that was described is not known",
    advice="Allow the place where it lies, or bring the file back.",
)

#: All of them, by their codes.
KINDS = {
    kind.code: kind
    for kind in (DESCRIPTION_STALE, DESCRIPTION_DIFFERS, DESCRIPTION_NOT_HDF5, DESCRIPTION_UNREAD)
}
