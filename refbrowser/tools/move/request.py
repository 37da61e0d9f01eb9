"""What a move is asked to be."""

from __future__ import annotations

from dataclasses import dataclass, field

from refbrowser.formats.option_fields import Kind, documented, option


@documented
@dataclass(frozen=True, slots=True)
class MoveRequest:
    """What URLs begin with, `old` now and `new` then, and what is made of it."""

    old: str
    new: str
    target: str = field(
        default="",
        metadata=option(
            "--output OUT",
            "the document to be made (.json, .json.gz, .json.zst); with --force it may be DOC itself; "
            "without it what would change is told",
            short="-o",
            about="The document to be made; empty for none.",
        ),
    )
    template: str = field(
        default="",
        metadata=option(
            "--as-template NAME",
            "make NEW a template of this name",
            about="The name of a template that `new` becomes; empty for none.",
            title="Make the new place a template",
            label="As te&mplate",
            tip="URLs begin with the template, so that the next move changes a single text",
        ),
    )
    is_tested: bool = field(
        default=False,
        metadata=option(
            "--test",
            "look at some of the files at the new place first: size, first and last bytes; nothing is "
            "written where one is not there or differs",
            kind=Kind.TICK,
            means=True,
            label="&Test the new place",
            tip="Check some of the files there: size, first and last bytes; nothing changes",
        ),
    )
    force: bool = field(
        default=False, metadata=option("--force", "replace the target", kind=Kind.TICK, means=True)
    )
