"""What can be asked of appending: files for a reference document, or a dataset for a stream."""

from __future__ import annotations

from dataclasses import dataclass, field

from refbrowser.exporting.combining.combination import Combination
from refbrowser.formats.option_fields import Kind, documented, like, option

_STREAMS = "streams"
_REPOSITORIES = "Icechunk repositories"


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """What is added, to which dimension, and what is done about what differs."""

    target: str = field(
        default="",
        metadata=option(
            "--output OUT",
            "write another document instead",
            short="-o",
            about="What is written; the document itself where it is empty.",
        ),
    )
    along: str = field(
        default="",
        metadata=option(
            "--concat DIM",
            "the dimension to append along (default: the only one whose coordinates differ; for a stream the "
            "only unlimited one of both)",
            about="The dimension that is extended; found where it is empty.",
        ),
    )
    arrays: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--array ARRAY",
            "add this array only; to a document beside those that it has (repeatable)",
            about="Names or paths of the arrays that are added; all where it is empty.",
            kind=Kind.TEXTS,
        ),
    )
    declares: str = field(
        default="",
        metadata=option(
            "--declares FILE",
            "hold each file against the properties that this one declares (default: TARGET.expect.json, "
            "where it is there)",
            about="A file whose member ``declares`` says what arrays of each file are like; that beside the "
            "document where it is empty.",
        ),
    )
    leave_out: tuple[str, ...] = like(Combination, "leave_out")
    leave_out_var: tuple[str, ...] = like(Combination, "leave_out_var")
    take_as: tuple[str, ...] = like(Combination, "take_as")
    inline_var: tuple[str, ...] = like(Combination, "inline_var")
    accept: tuple[str, ...] = like(Combination, "accept")
    axis: tuple[str, ...] = like(Combination, "axis")
    time_units: str = like(Combination, "time_units")
    reencode: bool = like(Combination, "reencode")
    sort: bool = like(Combination, "sort")
    new_dims: tuple[str, ...] = like(Combination, "new_dims")
    overwrite: bool = field(
        default=False,
        metadata=option(
            "--overwrite",
            "overwrite the values of the stream instead of appending after them",
            heading=_STREAMS,
            kind=Kind.TICK,
            means=True,
        ),
    )
    level: int | None = field(
        default=None,
        metadata=option(
            "--deflate LEVEL",
            "1 to 9, 0 for none (default: as in the stream)",
            about="Of deflate, 0 for none; None does as the stream does.",
            heading=_STREAMS,
            kind=Kind.NUMBER,
            limits=(0, 9),
        ),
    )
    message: str = field(
        default="",
        metadata=option(
            "--message TEXT",
            "of the commit (default: what is added)",
            short="-m",
            about="Of the commit to a repository; empty for what is added, in words.",
            heading=_REPOSITORIES,
        ),
    )
    to_branch: str = field(
        default="",
        metadata=option(
            "--to-branch NAME",
            "the branch to commit to (default: main)",
            about="The branch of a repository to commit to; empty for ``main``.",
            heading=_REPOSITORIES,
        ),
    )
    native: bool = field(
        default=False,
        metadata=option(
            "--native",
            "copy chunks into the repository (default: refer to the files)",
            about="Copy chunks into the repository instead of referring to the files.",
            heading=_REPOSITORIES,
            kind=Kind.TICK,
            means=True,
        ),
    )
    force: bool = field(
        default=False,
        metadata=option(
            "--force",
            "replace OUT; for a stream, drop bytes after its end",
            kind=Kind.TICK,
            means=True,
        ),
    )
