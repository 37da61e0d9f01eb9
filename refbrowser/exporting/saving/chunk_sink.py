"""Where own chunks lie: in the document where they are few, else in a file beside it."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, Self

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.files.final_names import sync_folder
from refbrowser.io.files.hidden_siblings import remove_leftovers, sibling_of
from refbrowser.limits import LIMITS
from refbrowser.words import size_text

#: Bytes that are held.
_HELD = 1 << 20
_SUFFIX = ".chunks"


class ChunkSink:
    """Takes the bytes of chunks one after another; to be used in a ``with`` block.

    Parameters
    ----------
    target
        The file or folder beside which they lie where they are many; empty for a document that is in no file.
    stays
        Whether they belong to the target; else they are there until the end of the block, to be read.

    Attributes
    ----------
    size
        Bytes that were taken.
    held
        Those that are held, by where they begin among all.
    path
        The file that has them; empty where they are held.
    """

    def __init__(self, target: str = "", *, stays: bool = True) -> None:
        self.size = 0
        self.held: dict[int, bytes] = {}
        self.path = ""
        self._target, self._stays = target and os.path.realpath(target), stays
        self._file: BinaryIO | None = None
        self._partial = ""
        self._digest = blake2b(digest_size=4)
        self._is_kept = False

    def __enter__(self) -> Self:
        if self._target:
            remove_leftovers(f"{self._target}{_SUFFIX}")
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
        for each in (self._partial, "" if self._is_kept else self.path):
            with suppress(OSError):
                if each:
                    os.remove(each)

    def add(self, data: bytes) -> int:
        """Take the bytes of a chunk, and return where they begin among all.

        Raises
        ------
        RefbrowserError
            `E_BUDGET`: there is no file for so many; `E_IO`: they cannot be written.
        """
        begin = self.size
        self.size += len(data)
        self._digest.update(data)
        if self._file is None:
            self.held[begin] = data
            if self.size > _HELD and self._target:
                self._spill()
            elif self.size > LIMITS.inlined_members:
                message = (
                    f"own chunks of more than {size_text(LIMITS.inlined_members)} do not fit into a document "
                    "(inlined_members)"
                )
                advice = "write the document to a file on this computer, or an Icechunk repository"
                raise RefbrowserError(ErrorKind.BUDGET, message, advice=advice)
        else:
            self._write(data)
        return begin

    def _spill(self) -> None:
        self._partial = sibling_of(f"{self._target}{_SUFFIX}")
        try:
            self._file = open(self._partial, "xb")  # noqa: SIM115 - it is closed at the end of the block
        except OSError as error:
            raise _unwritten(self._partial, error) from error
        for data in self.held.values():
            self._write(data)
        self.held = {}

    def _write(self, data: bytes) -> None:
        assert self._file is not None
        try:
            self._file.write(data)
        except OSError as error:
            raise _unwritten(self._partial, error) from error

    def close(self) -> None:
        """Have all that was taken on the disk, under a name that tells what is in it.

        An older document goes on with its own file until there is a new one.

        Raises
        ------
        RefbrowserError
            `E_IO`: it cannot be written.
        """
        if self._file is None:
            return
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self.path = (
                f"{self._target}.{self._digest.hexdigest()}{_SUFFIX}" if self._stays else self._partial
            )
            if self._stays:
                # What has the same name has the same bytes, and another document may refer to it.
                self._is_kept = os.path.exists(self.path)
                os.replace(self._partial, self.path)
                sync_folder(os.path.dirname(self.path))
        except OSError as error:
            raise _unwritten(self._partial, error) from error
        self._file, self._partial = None, "" if self._stays else self._partial

    def keep(self) -> None:
        """Keep the file, whose document is written, and remove those that this one had before."""
        self._is_kept = self._stays
        folder, name = os.path.split(self._target)
        if not self._stays or not os.path.isdir(folder):
            return
        own = re.compile(rf"{re.escape(name)}\.[0-9a-f]{{8}}{re.escape(_SUFFIX)}")
        for other in os.listdir(folder):
            if own.fullmatch(other) and os.path.join(folder, other) != self.path:
                with suppress(OSError):
                    Path(folder, other).unlink()


def _unwritten(path: str, error: OSError) -> RefbrowserError:
    message = f"own chunks cannot be written: {error.strerror or error}"
    return RefbrowserError(ErrorKind.IO, message, Place(path=os.path.dirname(path)))
