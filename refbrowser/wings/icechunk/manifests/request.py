"""What is asked of the manifests of a repository."""

from __future__ import annotations

from dataclasses import dataclass, field

from refbrowser.formats.option_fields import Kind, documented, option


@documented
@dataclass(frozen=True, slots=True)
class ManifestsRequest:
    """Whose manifests are told, and how else they could be split."""

    array: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--array ARRAY",
            "show the manifests of this array only (repeatable)",
            kind=Kind.TEXTS,
            title="Arrays",
        ),
    )
    split_size: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--split-size DIM=CHUNKS",
            "show what manifests of so many chunks along a dimension would cost (repeatable)",
            kind=Kind.TEXTS,
            title="Split",
        ),
    )
