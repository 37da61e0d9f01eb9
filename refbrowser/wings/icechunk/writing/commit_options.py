"""What is chosen of a commit to an Icechunk repository."""

from __future__ import annotations

from dataclasses import dataclass, field

from refbrowser.exporting.option_fields import ExportOptions
from refbrowser.exporting.options import Packing, packing_option
from refbrowser.formats.option_fields import documented, option


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class CommitOptions(ExportOptions):
    """What a commit to an Icechunk repository is called, and where it goes."""

    heading = "the commit of an Icechunk repository"
    only = "a branch and a message apply only to Icechunk repositories"
    called = "Icechunk"

    branch: str = field(
        default="main",
        metadata=option(
            "--to-branch NAME",
            "to commit to (default: main); a new branch starts at main",
            about="The branch to commit to; a new one starts at ``main``.",
            title="The branch to commit to",
            label="&Branch",
            place=(0, 0),
            hint="main",
            tip="A new branch starts at main",
        ),
    )
    message: str = field(
        default="",
        metadata=option(
            "--message TEXT",
            "of the commit (default: the name of what was opened)",
            about="Of the commit; by default the name of what was opened.",
            title="The commit message",
            label="&Message",
            place=(1, 0),
            is_wide=True,
            hint="the name of what was opened",
            tip="It appears in the history of the branch",
        ),
    )
    packing: Packing = field(default="keep", metadata=packing_option(place=(0, 1)))
