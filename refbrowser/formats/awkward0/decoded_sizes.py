"""How many bytes compressed blobs unpack to, where no schema tells how many elements they are.

As awkward0 does it (``frombuffer`` with a count of -1): by unpacking them. Their bytes are read when the file
is opened; what they unpack to is counted and not kept, and there is a bound for all blobs of a file together.
"""

from __future__ import annotations

import lzma

from refbrowser.codecs.base import Bytes, Room, as_bytes
from refbrowser.codecs.pipeline import FAULTS
from refbrowser.codecs.table import decoded_alone, decompressor
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.awkward0.container import Blob, Container
from refbrowser.limits import LIMITS

#: Unpacked bytes that are counted together.
_BLOCK = 1 << 20


class DecodedSizes:
    """Counts the bytes of blobs of one container."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._known: dict[tuple[str, tuple[str, ...]], int | RefbrowserError] = {}
        self._stored_left = LIMITS.awkward_measured
        self._left = LIMITS.chunk_size

    def size(self, blob: Blob, codecs: tuple[str, ...]) -> int:
        """Return the bytes that a blob unpacks to.

        Parameters
        ----------
        codecs
            In the order of decoding.

        Raises
        ------
        RefbrowserError
            It cannot be read or unpacked; `E_BUDGET`: that is too much to be found out.
        """
        key = blob.name, codecs
        if key not in self._known:
            try:
                self._known[key] = self._measured(blob, codecs)
            except RefbrowserError as error:
                self._known[key] = error
        known = self._known[key]
        if isinstance(known, RefbrowserError):
            raise known.at(known.place)
        return known

    def _measured(self, blob: Blob, codecs: tuple[str, ...]) -> int:
        if blob.size > self._stored_left:
            message = "only all of it tells how many elements a compressed blob is, and more than "
            message += f"{LIMITS.awkward_measured} bytes of such are not read (awkward_measured)"
            raise RefbrowserError(ErrorKind.BUDGET, message)
        self._stored_left -= blob.size
        answer = self._container.read([blob.name], blob.size).get(blob.name)
        if not isinstance(answer, bytes):
            raise answer or RefbrowserError(ErrorKind.RANGE, f"there is no blob {quoted(blob.name)}")
        try:
            data = as_bytes(answer)
            for name in codecs[:-1]:
                data = decoded_alone(name, data, Room(None, self._left))
            size = self._unpacked_size(codecs[-1], data)
        except FAULTS as error:
            message = f"blob {quoted(blob.name)} cannot be decoded: {quoted(error)}"
            raise RefbrowserError(ErrorKind.DECODE, message) from None
        self._left -= size
        return size

    def _unpacked_size(self, codec: str, data: Bytes) -> int:
        stream = decompressor(codec)
        if stream is None:
            return len(decoded_alone(codec, data, Room(None, self._left)))
        size, rest = 0, data.tobytes()
        while True:
            try:
                while not stream.eof:
                    made = stream.decompress(rest, _BLOCK)
                    rest = stream.unconsumed_tail if codec == "zlib" else b""
                    size += len(made)
                    if size > self._left:
                        message = f"blobs without a count unpack to more than {LIMITS.chunk_size} bytes"
                        raise RefbrowserError(ErrorKind.BUDGET, f"{message} (chunk_size)")
                    if not made and not rest and not stream.eof:
                        raise EOFError("it ends early")
            except (OSError, lzma.LZMAError):
                # What follows a whole stream and is none is left out, as Python does.
                if not size:
                    raise
                return size
            rest = stream.unused_data
            if codec == "zlib" or not rest:
                return size
            stream = decompressor(codec)
