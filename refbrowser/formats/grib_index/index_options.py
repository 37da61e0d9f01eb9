"""How an index of a GRIB file is opened; loaded without what opens it."""

from __future__ import annotations

from dataclasses import dataclass, field

from refbrowser.formats.option_fields import Kind, option


@dataclass(frozen=True, slots=True)
class GribIndexOptions:
    """How an index of a GRIB file is opened.

    Attributes
    ----------
    grib
        Path or URL of the GRIB file, or with a slash at its end of the folder that it is in, which may be
        read then; the file beside the index when None.
    messages
        Show the table of messages, and read nothing of the GRIB file.
    """

    grib: str | None = field(
        default=None,
        metadata=option(
            "--grib FILE",
            "the GRIB file of an index: a path or URL, not the file beside it; with / at its end the folder "
            "that GRIB files lie in, by the names that their indexes tell",
            names_place=True,
        ),
    )
    messages: bool = field(
        default=False,
        metadata=option(
            "--messages",
            "show the messages that the index of a GRIB file lists as a table, and read nothing of that file",
            kind=Kind.TICK,
            means=True,
        ),
    )
