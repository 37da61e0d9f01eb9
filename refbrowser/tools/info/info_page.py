"""What a dataset holds as one page of HTML."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from refbrowser.markup import Content, Markup, element, markup
from refbrowser.views.description import Description
from refbrowser.views.reports.finding_table import FINDING_STYLE, finding_table
from refbrowser.views.reports.html_page import ReportPage, code, definitions, listing, verdict
from refbrowser.views.reports.window_link import window_link
from refbrowser.words import counted

_STYLE = """
.array { margin: 1.1rem 0 0; padding-top: .9rem; border-top: 1px solid var(--line); }
.array h3 { margin-bottom: .35rem; }
.array h3 span { font-weight: 400; margin-left: .6rem; }
main { --names: 11rem; }
.sizes table { width: auto; min-width: 18rem; }
"""
#: Characters of one attribute.
_VALUE = 500


def page_of(description: Description) -> ReportPage:
    """Return what a dataset holds as a page."""
    found = description.to_json()
    written = f" (written by {found['age']})" if found["age"] else ""
    return ReportPage(
        title=f"Contents of {description.path}",
        about=(
            ("Document", description.path),
            *window_link(description.path, description.below),
            ("Format", f"{found['format']}{written}"),
            ("Metadata", str(found["flavour"])),
        ),
        sections=_sections(description, found),
        style=FINDING_STYLE + _STYLE,
    )


def _sections(description: Description, found: Mapping[str, Any]) -> Iterator[Markup]:
    groups, arrays = found["groups"], found["arrays"]
    problems = description.problems
    counts = [counted(len(groups), "group"), counted(len(arrays), "array"), _problem_count(len(problems))]
    yield verdict(", ".join(counts), "warning" if problems else "")
    if problems:
        yield markup(element("h2", "Problems"), finding_table(problems))
    below: dict[str, list[str]] = {path: [] for path in groups}
    for path in arrays:
        below.setdefault(path.rpartition("/")[0] or "/", []).append(path)
    for path, names in below.items():
        yield markup(element("h2", path), _group(groups.get(path, {})))
        for name in names:
            yield element("section", _array(name, arrays[name]), class_="array")


def _problem_count(count: int) -> str:
    return counted(count, "problem") if count else "no problems"


def _group(group: Mapping[str, Any]) -> Iterator[Markup]:
    if group.get("dimensions"):
        sizes = (
            (name, f"{dimension['size']:,}", "unlimited" if dimension["unlimited"] else "")
            for name, dimension in group["dimensions"].items()
        )
        table = listing(("Dimension", "Size", ""), sizes, ("", "number"))
        yield element("div", table, class_="sizes")
    yield definitions(_attributes(group.get("attributes", {})))
    for image in group.get("images", ()):
        yield element("p", "Image ", code(str(image["name"])), f": {counted(len(image['levels']), 'level')}")


def _array(path: str, array: Mapping[str, Any]) -> Iterator[Markup]:
    names = array["dimensions"] or [None] * len(array["shape"])
    sizes = ", ".join(
        f"{size:,}" if name is None else f"{name} = {size:,}"
        for name, size in zip(names, array["shape"], strict=False)
    )
    yield element("h3", code(path), element("span", f"{array['dtype']} ({sizes})", class_="soft"))
    if array["error"]:
        yield element("p", array["error"], class_="fault")
    yield definitions(_layout(array))
    yield definitions(_attributes(array["attributes"]))
    for name, attributes in array.get("member_attributes", {}).items():
        yield markup(element("p", code(name)), definitions(_attributes(attributes)))


def _layout(array: Mapping[str, Any]) -> Iterator[tuple[Content, Content]]:
    """Yield how an array is stored: names and values."""
    if array["chunks"] is not None:
        counts = ""
        if array["stored_chunks"] is not None:
            counts = f"; {array['stored_chunks']:,} stored, {array['missing_chunks']:,} missing"
        yield "Chunks", f"{_text(array['chunks'])}, order {array['order']}{counts}"
        yield "Codecs", ", ".join(each["name"] for each in array["codecs"]) or "none"
        yield "Fill value", "undefined" if array["fill_value"] is None else _text(array["fill_value"])
    if "decoded_by" in array:
        yield "Decoded by", ", ".join(dict.fromkeys(array["decoded_by"].values()))
    if "not_referencable" in array:
        yield "Not referencable", array["not_referencable"]


def _attributes(attributes: Mapping[str, Any]) -> Iterator[tuple[Content, Content]]:
    for name, value in attributes.items():
        text = _text(value)
        yield f":{name}", text if len(text) <= _VALUE else f"{text[:_VALUE]}…"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
