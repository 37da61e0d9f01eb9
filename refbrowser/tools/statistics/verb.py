"""Statistics of the values in a region of an array: counts, mean, spread, extremes, quantiles.

A region has bounds by coordinates (lat 30..60, lon -10..30), is a polygon or a condition on values. Means are
weighted by area, too, where CF tells areas or latitudes. With --along the same is told for each index of a
dimension. What cannot be read is counted, and gives exit code 4.
"""

from __future__ import annotations

import argparse

from refbrowser.cli.console import (
    ProgressBar,
    plain,
    tell,
    tell_damage,
    tell_findings,
    write_json,
    write_line,
)
from refbrowser.cli.options import (
    add_array,
    add_json,
    add_reading,
    add_select,
    add_templates,
    add_yes,
    chosen_array,
    job_control,
    open_dataset,
    take_link,
)
from refbrowser.errors import ErrorKind
from refbrowser.io.cancel import CancelToken


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_array(parser)
    parser.add_argument(
        "--region",
        metavar="TEXT",
        default="",
        help="'lat 30..60, lon -10..30', 'polygon(-10 30, 30 30, 10 60)', '> 273.15', '/lsm > 0.5', joined "
        "by and, or, not; everywhere without it",
    )
    add_select(parser)
    parser.add_argument(
        "--along", metavar="DIM", default="", help="tell the same for each index of a dimension, too"
    )
    parser.add_argument(
        "--quantiles", metavar="LIST", default="5,25,50,75,95", help="percentages (default: %(default)s)"
    )
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Read the values of the region and print their statistics."""
    from refbrowser.tools.statistics.public import statistics
    from refbrowser.views.regions.region_statistics import parsed_quantiles

    quantiles = parsed_quantiles(arguments.quantiles)
    link = take_link(arguments)
    with open_dataset(arguments, token) as dataset:
        array, part = chosen_array(dataset, link, arguments)
        tell_damage(array.damage)
        with ProgressBar("reading") as bar:
            control = job_control(token, bar)
            found = statistics(
                dataset,
                array.path,
                arguments.region,
                part or ...,
                along=arguments.along,
                quantiles=quantiles,
                progress=control,
            )
        tell_findings(dataset.access.memory.warnings)
    if arguments.json:
        write_json(found.as_json())
    else:
        for line in found.lines():
            write_line(plain(line))
    if found.failed:
        tell(f"refbrowser: {found.failed} elements could not be read: {found.errors[0]}")
        return ErrorKind.SOURCE.exit_code
    return 0
