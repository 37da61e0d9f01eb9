"""Draw an array as the window does, as a figure: PDF or SVG, whose words are text, or PNG.

With --along DIM it is a film: .gif, .mp4, or a folder of pictures. It needs Qt, but no display. What cannot
be read is marked and told; the exit code is 4 then.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from refbrowser.cli.console import (
    ProgressBar,
    plain,
    tell,
    tell_damage,
    write_json,
    write_line,
)
from refbrowser.cli.options import (
    add_array,
    add_json,
    add_reading,
    add_request,
    add_select,
    add_templates,
    add_yes,
    job_control,
    request_of,
)
from refbrowser.io.cancel import CancelToken
from refbrowser.tools.read.verb import add_computing, array_of

#: Frames that are told one by one.
_TOLD = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    from refbrowser.tools.figure.request import FigureRequest

    add_array(parser)
    add_select(parser)
    add_computing(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        required=True,
        help="the figure to be made: .pdf, .svg or .png; a film: .gif, .mp4, or a folder",
    )
    parser.add_argument("--force", action="store_true", help="replace FILE")
    add_request(parser, FigureRequest)
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Draw the array, write the figure, and report."""
    from refbrowser.tools.figure.public import check_target, write_figure
    from refbrowser.tools.figure.request import FigureRequest

    asked = request_of(arguments, FigureRequest)
    check_target(arguments.output, asked, force=arguments.force)
    with ExitStack() as opened:
        found = array_of(arguments, token, opened)
        tell_damage(found.array.damage)
        with ProgressBar("drawing") as bar:
            control = job_control(token, bar)
            report = write_figure(
                found.array, found.part, arguments.output, asked, control, force=arguments.force
            )
        found.tell_warnings()
    for loss in report.losses:
        tell(f"refbrowser: warning: {plain(loss)}")
    if report.failed_frames:
        listed = ", ".join(map(str, report.failed_frames[:_TOLD]))
        more = f" and {len(report.failed_frames) - _TOLD} more" if len(report.failed_frames) > _TOLD else ""
        tell(f"refbrowser: warning: marked as incomplete: frames {listed}{more}")
    if arguments.json:
        write_json(report.as_json())
    else:
        for line in report.lines():
            write_line(plain(line))
    return report.exit_code()
