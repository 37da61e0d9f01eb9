"""What a source adds to a stream, told by definitions alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.wings.ncstream.changing.growth import attribute_growth, growth_of
from refbrowser.wings.ncstream.reading.definition import (
    StreamAttribute,
    StreamDefinition,
    StreamDimension,
    StreamGroup,
    StreamType,
    StreamVariable,
)


def dim(name: str, length: int, *, unlimited: bool = False) -> StreamDimension:
    return StreamDimension(name, length, is_unlimited=unlimited)


def text(name: str, value: str) -> StreamAttribute:
    return StreamAttribute(name, StreamType.STRING, (value,))


def attributes(*each: StreamAttribute) -> dict[str, StreamAttribute]:
    return {attribute.name: attribute for attribute in each}


def variable(name: str, *dimensions: StreamDimension, **more) -> StreamVariable:
    return StreamVariable(name=name, dimensions=dimensions, **{"type": StreamType.FLOAT, **more})


def group(name: str, *variables: StreamVariable, dims=(), groups=(), **more) -> StreamGroup:
    return StreamGroup(
        name=name,
        dimensions={each.name: each for each in dims},
        variables={each.name: each for each in variables},
        groups={each.name: each for each in groups},
        **more,
    )


def days(
    count: int, *more: StreamVariable, units: str = "days since 2000-01-01", **fields
) -> StreamDefinition:
    time, x = dim("time", count, unlimited=True), dim("x", 4)
    clock = variable("time", time, attributes=attributes(text("units", units)))
    temp = variable("temp", time, x, attributes=attributes(text("long_name", "temperature")))
    fixed = variable("x", x)
    return StreamDefinition(root=group("", clock, temp, fixed, *more, dims=(time, x), **fields))


def added(growth) -> dict[str, tuple[int, ...]]:
    return {each.path: each.origin for each in growth.additions}


def shapes(definition: StreamDefinition | None) -> dict[str, tuple[int, ...]]:
    assert definition is not None
    return {path: each.shape for path, each in definition.variables()}


@pytest.mark.parametrize("along", [None, "time", "/time"])
def test_the_unlimited_dimension_gets_longer(along: str | None) -> None:
    growth = growth_of(days(3), days(2), along)
    assert (growth.along, growth.before, growth.after) == ("/time", 3, 5)
    assert added(growth) == {"/time": (3,), "/temp": (3, 0)}
    assert growth.kept == ("/x",)
    assert shapes(growth.header) == {"/time": (5,), "/temp": (5, 4)}
    assert growth.header.root.dimensions == {"time": dim("time", 5, unlimited=True)}
    assert growth.header.root.variables["temp"].attributes == attributes(text("long_name", "temperature"))
    assert growth.changed == ()


def test_variables_without_values_in_the_source_are_filled() -> None:
    time = dim("time", 3, unlimited=True)
    stream = days(3, variable("salt", time))
    growth = growth_of(stream, days(2))
    assert growth.unfilled == ("/salt",)
    assert shapes(growth.header)["/salt"] == (5,)


def test_new_variables_groups_and_enumerations_are_defined() -> None:
    y = dim("y", 7)
    below = group("deep", variable("v", y), dims=(y,), enums={"e": {0: "no", 1: "yes"}})
    source = days(0, variable("new", dim("x", 4)), groups=(below,))
    growth = growth_of(days(3), source)
    assert growth.along is None
    assert growth.header is not None
    assert set(shapes(growth.header)) == {"/new", "/deep/v"}
    found = growth.header.root.groups["deep"]
    assert (found.dimensions, found.enums) == ({"y": y}, {"e": {0: "no", 1: "yes"}})
    assert added(growth)["/deep/v"] == (0,)


def test_a_new_variable_begins_where_the_stream_ends() -> None:
    new = variable("new", dim("time", 2, unlimited=True))
    growth = growth_of(days(3), days(2, new))
    assert added(growth)["/new"] == (3,)
    assert shapes(growth.header)["/new"] == (5,)


def test_attributes_that_differ_are_told_and_kept_ones_are_not_repeated() -> None:
    stream = days(3, attributes=attributes(text("title", "old"), text("source", "model")))
    source = days(2, attributes=attributes(text("title", "new"), text("history", "appended")))
    growth = growth_of(stream, source)
    assert growth.changed == ("/@title", "/@history")
    assert growth.header.root.attributes == attributes(text("title", "new"), text("history", "appended"))


@pytest.mark.parametrize(
    ("source", "what"),
    [
        (days(2, units="days since 2001-01-01"), "units"),
        (StreamDefinition(root=group("", variable("temp", dim("time", 2), type=StreamType.INT))), "type"),
        (
            StreamDefinition(
                root=group(
                    "",
                    variable("temp", dim("time", 2), dim("x", 5)),
                    dims=(dim("time", 2, unlimited=True), dim("x", 5)),
                )
            ),
            "5 long",
        ),
    ],
)
def test_what_means_something_else_is_refused(source: StreamDefinition, what: str) -> None:
    with pytest.raises(RefbrowserError, match=what) as caught:
        growth_of(days(3), source)
    assert caught.value.kind is ErrorKind.META


def test_the_dimension_must_be_known() -> None:
    with pytest.raises(RefbrowserError, match="no dimension") as caught:
        growth_of(days(3), days(2), "level")
    assert caught.value.kind is ErrorKind.USAGE
    lacking = StreamDefinition(root=group("", variable("x", dim("x", 4)), dims=(dim("x", 4),)))
    with pytest.raises(RefbrowserError, match="the source has no dimension"):
        growth_of(days(3), lacking, "time")
    assert growth_of(days(3), lacking).along is None


def test_a_dimension_that_is_named_becomes_unlimited() -> None:
    x = dim("x", 4)
    stream = StreamDefinition(root=group("", variable("v", x), dims=(x,)))
    assert growth_of(stream, stream).along is None
    growth = growth_of(stream, stream, "x")
    assert growth.header.root.dimensions == {"x": dim("x", 8, unlimited=True)}
    assert growth.header.root.variables["v"].dimensions == (dim("x", 8, unlimited=True),)
    assert "unlimited from now on" in growth.notes[0]
    assert growth_of(days(3), days(2)).notes == ()


def test_values_of_headers_get_longer_along_the_first_dimension_alone() -> None:
    time, x = dim("time", 2, unlimited=True), dim("x", 1)
    stream = StreamDefinition(root=group("", variable("v", x, time, immediate=bytes(8)), dims=(x, time)))
    with pytest.raises(RefbrowserError, match="are in a header"):
        growth_of(stream, stream)


def test_one_of_several_unlimited_dimensions_must_be_named() -> None:
    more = dim("wave", 2, unlimited=True)
    both = replace(days(1).root, dimensions={**days(1).root.dimensions, "wave": more})
    stream = StreamDefinition(root=both)
    with pytest.raises(RefbrowserError, match="several unlimited"):
        growth_of(stream, stream)
    assert growth_of(stream, stream, "time").along == "/time"


def test_a_dimension_of_the_same_name_in_another_group_is_another_one() -> None:
    time = dim("time", 9, unlimited=True)
    inner = group("inner", variable("v", time), dims=(time,))
    stream = days(3, groups=(inner,))
    growth = growth_of(stream, days(2), "/time")
    assert growth.unfilled == ()
    assert "inner" not in growth.header.root.groups
    with pytest.raises(RefbrowserError, match="more than one"):
        growth_of(stream, days(2), "time")


def test_values_are_laid_over_those_of_the_stream_on_demand() -> None:
    growth = growth_of(days(3), days(5), overwrite=True)
    assert added(growth) == {"/time": (0,), "/temp": (0, 0), "/x": (0,)}
    assert shapes(growth.header) == {"/time": (5,), "/temp": (5, 4)}
    shorter = growth_of(days(3), days(2), overwrite=True)
    assert (shorter.header, added(shorter)["/temp"]) == (None, (0, 0))


def test_a_sequence_goes_on() -> None:
    member = variable("a", type=StreamType.INT)
    rows = variable("obs", type=StreamType.SEQUENCE, members=(member,))
    assert added(growth_of(days(3, rows), days(2, rows)))["/obs"] == ()
    other = replace(rows, members=(variable("b", type=StreamType.INT),))
    with pytest.raises(RefbrowserError, match="members"):
        growth_of(days(3, rows), days(2, other))


def test_nothing_to_be_said_is_no_header() -> None:
    growth = growth_of(days(3), StreamDefinition(root=group("", variable("x", dim("x", 4)))))
    assert growth.header is None
    assert growth.additions == ()


def test_an_edit_says_its_attributes_alone() -> None:
    stream = days(3, attributes=attributes(text("title", "old")))
    before = days(3, attributes=attributes(text("title", "old"), text("gone", "x")))
    temp = replace(before.root.variables["temp"], attributes=attributes(text("long_name", "warmth")))
    after = StreamDefinition(
        root=replace(
            before.root,
            variables={**before.root.variables, "temp": temp},
            attributes=attributes(text("title", "old"), text("more", "y")),
        )
    )
    growth = attribute_growth(stream, before, after)
    assert growth.changed == ("/@more", "/temp@long_name")
    assert shapes(growth.header) == {"/temp": (3, 4)}
    assert "/@gone" in growth.notes[0]
    assert attribute_growth(stream, before, before).header is None
