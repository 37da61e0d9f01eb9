"""What can be asked of a commit."""

from __future__ import annotations

from dataclasses import dataclass, field

from refbrowser.formats.option_fields import Item, Kind, documented, option
from refbrowser.references.merging.merge import Choice


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRequest:
    """What becomes of the newest snapshot of a branch, and how the commit is called."""

    set_attr: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--set-attr [VAR]:NAME=VALUE",
            "an attribute of the array or group VAR, or of the root: text, or JSON; without VALUE it is "
            "removed (repeatable)",
            about="Attributes as ``PATH:NAME=VALUE``; of the root ``:NAME=VALUE``.",
            kind=Kind.TEXTS,
        ),
    )
    rename: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--rename OLD=NEW",
            "another path for a group or array, or another name for a dimension, as PATH:DIM=NEW; /:DIM=NEW "
            "renames it in all arrays (repeatable)",
            about="Paths as ``OLD=NEW``, dimensions as ``PATH:DIM=NEW``.",
            kind=Kind.TEXTS,
        ),
    )
    delete: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--delete PATH",
            "delete a group or array with all that is in it; earlier snapshots keep it (repeatable)",
            about="Paths of groups and arrays that are deleted.",
            kind=Kind.TEXTS,
        ),
    )
    move_prefix: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--move-prefix OLD=NEW",
            "virtual chunks whose URLs begin with OLD are now at NEW; vcc://NAME stands for a named "
            "container (repeatable)",
            about="Beginnings of URLs as ``OLD=NEW``, or a container as ``vcc://NAME=NEW``.",
            kind=Kind.TEXTS,
        ),
    )
    source: str = field(
        default="",
        metadata=option(
            "--from NAME",
            "commit what another branch, a tag or a snapshot changed since both parted: merge it",
            about="Another branch, a tag or a snapshot whose changes are merged; empty for none.",
        ),
    )
    message: str = field(
        default="",
        metadata=option(
            "--message TEXT",
            "message of the commit (default: what it changes)",
            short="-m",
            about="Of the commit; empty for what it changes, in words.",
        ),
    )
    to_branch: str = field(
        default="",
        metadata=option(
            "--to-branch NAME",
            "commit to this branch (default: the one that is opened); a new one starts at what is opened",
            about="The branch to commit to; empty for the one that is opened.",
        ),
    )
    favor: Choice | None = field(
        default=None,
        metadata=option(
            "--favor",
            "whose value is taken where others have committed a different one since",
            about="Whose value settles conflicts: ours or theirs; None leaves them, and commits nothing.",
            kind=Kind.CHOICE,
            parse=Choice,
            items=(Item("ours", "ours"), Item("theirs", "theirs")),
        ),
    )
    settle: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--settle PLACE=ours|theirs",
            "the same for one place, named as in the list of conflicts (repeatable)",
            about="Whose value single conflicts take, as ``PLACE=ours`` or ``PLACE=theirs``.",
            kind=Kind.TEXTS,
        ),
    )
    dry_run: bool = field(
        default=False,
        metadata=option(
            "--dry-run", "show what would be committed, and commit nothing", kind=Kind.TICK, means=True
        ),
    )
