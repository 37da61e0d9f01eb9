"""Putting an array into a container (serialization text, "Persistence functions": ``serialize``)."""

from __future__ import annotations

import tempfile
from types import TracebackType
from typing import Any, BinaryIO

from refbrowser.wings.awkward0.writing.blobs import DEFAULT_POLICY, Json, Policy, Said, Sink, schema_text
from refbrowser.wings.awkward0.writing.feeding import feed, type_of_content
from refbrowser.wings.awkward0.writing.parts import Naming, Part, Spelling, part_of, written_type

#: Bytes of a blob that are held in memory while it grows.
HELD = 4 * 1024 * 1024
#: Bytes that a compressed blob has beside its data, more than enough.
SLACK = 64 * 1024
NOTHING = Said()


class Spools:
    """Files in which blobs grow, in memory while they are small; all are gone when this is closed.

    Parameters
    ----------
    folder
        Where they are made.
    """

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder
        self._open: list[Any] = []

    def __enter__(self) -> Spools:
        return self

    def __exit__(
        self, _: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for spool in self._open:
            spool.close()

    def __call__(self) -> BinaryIO:
        """Open another one."""
        spool = tempfile.SpooledTemporaryFile(HELD, dir=self._folder)  # noqa: SIM115 - closed with all
        self._open.append(spool)
        return spool  # type: ignore[return-value]


def put_array(
    part: Part,
    sink: Sink,
    name: str,
    naming: Naming,
    policy: Policy,
    said: Said = NOTHING,
) -> None:
    """Put an array whose rows were added: its blobs, then its description.

    Raises
    ------
    OSError
        The container cannot be written.
    """
    prefix, spelling = naming.prefix(name), Spelling(naming.suffix, policy)
    root = part.expression(spelling)
    for leaf in spelling.used:
        compression, portions = leaf.compression(policy), leaf.blob.portions()
        if compression is not None:
            portions = compression.portions(portions)
        # What does not get smaller grows by a small part at most.
        most = leaf.blob.size if compression is None else leaf.blob.size + leaf.blob.size // 32 + SLACK
        sink.put(f"{prefix}{leaf.blob_name(naming.suffix)}", portions, most)
    put_schema(root, sink, name, naming, said)


def put_schema(root: Json, sink: Sink, name: str, naming: Naming, said: Said) -> None:
    """Put the description of an array.

    Raises
    ------
    OSError
        The container cannot be written.
    """
    text = schema_text(root, naming.prefix(name), said)
    sink.put(naming.schema(name), [text], len(text))


def serialize(
    content: Any,
    sink: Sink,
    name: str = "",
    naming: Naming | None = None,
    policy: Policy = DEFAULT_POLICY,
    said: Said = NOTHING,
) -> tuple[str, ...]:
    """Put an array of awkward into a container under a name; return what of it is not kept.

    Parameters
    ----------
    content
        An ``awkward.contents.Content``, or an ``awkward.Array``.

    Raises
    ------
    RefbrowserError
        `E_SCHEMA`: it has no form in Awkward 0.
    OSError
        The container cannot be written.
    """
    content = getattr(content, "layout", content)
    written = written_type(type_of_content(content))
    with Spools() as spools:
        part = part_of(written.type, spools)
        feed(part, content)
        put_array(part, sink, name, naming or Naming(), policy, said)
    return written.losses
