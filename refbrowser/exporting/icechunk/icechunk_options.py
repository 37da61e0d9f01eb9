"""What is chosen of a commit to an Icechunk repository."""

from __future__ import annotations

from dataclasses import dataclass, field

from refbrowser.exporting.option_fields import ExportOptions
from refbrowser.formats.option_fields import documented, option


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class CommitOptions(ExportOptions):
    """What a commit to an Icechunk repository is called, and where it goes."""

    heading = "the commit of an Icechunk repository"
    only = "a branch and a message are chosen for Icechunk repositories only"
    called = "Icechunk"

    branch: str = field(
        default="main",
        metadata=option(
            "--to-branch NAME",
            "that gets the commit (main when not said); made from main where there is none of the name",
            about="Gets the commit; made from ``main`` where there is none of the name.",
            title="The branch that gets the commit",
            label="&Branch",
            place=(0, 0),
            hint="main",
            tip="A branch that is not there is made from main",
        ),
    )
    message: str = field(
        default="",
        metadata=option(
            "--message TEXT",
            "of the commit; names what was opened when not said",
            about="Of the commit; names what was opened where it is empty.",
            title="The message of the commit",
            label="&Message",
            place=(1, 0),
            is_wide=True,
            hint="names what was opened",
            tip="It stands in the history of the branch",
        ),
    )
