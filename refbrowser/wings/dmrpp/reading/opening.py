"""Opening DMR++: the description alone is read; the file that it describes is read chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator

from refbrowser.errors import ErrorKind, quoted
from refbrowser.formats.format import Opened, Opening
from refbrowser.formats.named_bytes import named_bytes, place_beside
from refbrowser.formats.sniffing import HEAD, NotThisError, is_dmr
from refbrowser.io.fetching.byte_sources import ByteSource
from refbrowser.references.content.origins import Fact
from refbrowser.references.document.manifest import ManifestBuilder
from refbrowser.wings.dmrpp.reading.dmr_arrays import DmrArrays, DmrOrigin
from refbrowser.wings.dmrpp.reading.dmr_text import read_dmr

FORMAT, SUFFIX = "dmrpp", ".dmrpp"
#: Bytes that are read at a time.
_PORTION = 1 << 20


def open_named_dmrpp(opening: Opening) -> Opened:
    """Open the DMR++ at a path or URL.

    Raises
    ------
    RefbrowserError
        `NotThisError`: it is none; else it cannot be read.
    """
    with named_bytes(opening) as named:
        if not is_dmr(bytes(named.source.read(0, HEAD))):
            raise NotThisError(ErrorKind.FORMAT, f"{quoted(opening.path)} is no DMR++")
        root = read_dmr(_portions(named.source, opening), opening.path)
    arrays = DmrArrays(root, lambda name: place_of(named.url, name))
    manifest = ManifestBuilder(arrays.file)
    arrays.add_to(manifest)
    facts = [Fact("File", arrays.file)]
    if (version := root.attributes.get("dmrpp:version")) is not None:
        facts.append(Fact("Written by", f"build_dmrpp {version}" if version[:1].isdigit() else version))
    origin = DmrOrigin(named.url, FORMAT, arrays.file, facts, arrays.recorded)
    document = manifest.document(name=opening.path, origin=origin, notes=tuple(arrays.findings))
    return Opened(document, named.access, named.identity)


def place_of(url: str, name: str) -> str:
    """Return where a file lies that a description at `url` names; nothing means the file beside it."""
    if not name:
        return url.removesuffix(SUFFIX)
    return place_beside(url, name)


def _portions(source: ByteSource, opening: Opening) -> Iterator[bytes]:
    for start in range(0, source.size, _PORTION):
        opening.token.check()
        yield bytes(source.read(start, _PORTION))
