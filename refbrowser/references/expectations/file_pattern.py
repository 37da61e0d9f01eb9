"""Patterns of names of files with dates in them: ``data/t2m_{time:%Y-%m}.nc``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from refbrowser.errors import quoted, usage_error
from refbrowser.limits import LIMITS

#: What a directive stands for, and which part of a date it is.
_DIRECTIVES = {
    "Y": (r"\d{4}", "year"),
    "m": (r"\d{2}", "month"),
    "d": (r"\d{2}", "day"),
    "j": (r"\d{3}", "yearday"),
    "H": (r"\d{2}", "hour"),
    "M": (r"\d{2}", "minute"),
    "S": (r"\d{2}", "second"),
}
_FIELD = re.compile(r"\{(?P<name>[^{}:]+)(?::(?P<dates>[^{}]*))?\}|\*")
_ADVICE = "for example data/t2m_{time:%Y-%m}.nc"
_ORDER = ("year", "month", "day", "hour", "minute", "second")


@dataclass(frozen=True, slots=True)
class FilePattern:
    """The names of files, each with a date in it.

    Attributes
    ----------
    text
        As it was said.
    parts
        A regular expression for each part of the path, the last one that of the file.
    folder
        What all names begin with: folders without dates, with a ``/`` at its end; empty for none.
    """

    text: str
    parts: tuple[re.Pattern[str], ...]
    folder: str

    @classmethod
    def parse(cls, text: str, name: str) -> FilePattern:
        """Return the pattern that a text says.

        Parameters
        ----------
        name
            Of the axis whose dates the names have.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: it has no date, or a field that is not known.
        """
        if len(text) > LIMITS.url_length:
            raise usage_error(f"the pattern has more than {LIMITS.url_length} characters (url_length)")
        *folders, last = text.split("/")
        fixed = 0
        while fixed < len(folders) and not _FIELD.search(folders[fixed]):
            fixed += 1
        seen: set[str] = set()
        parts = tuple(re.compile(_expression(each, name, seen)) for each in (*folders[fixed:], last))
        if "year" not in seen:
            raise usage_error(f"no name of {quoted(text)} tells the year", _ADVICE)
        return cls(text, parts, "".join(f"{folder}/" for folder in folders[:fixed]))

    def date_of(self, path: str) -> str | None:
        """Return the date in a path below the folder, as ISO 8601 has it; None where it does not match."""
        parts = path.split("/")
        if len(parts) != len(self.parts):
            return None
        found: dict[str, str] = {}
        for part, expression in zip(parts, self.parts, strict=True):
            match = expression.fullmatch(part)
            if match is None:
                return None
            for group, digits in match.groupdict().items():
                # What is named again must agree.
                if found.setdefault(group.partition("_")[0], digits) != digits:
                    return None
        return _date_text(found)

    def may_lead(self, folders: str) -> bool:
        """Tell whether folders below the first one may lead to a file."""
        parts = [part for part in folders.split("/") if part]
        return len(parts) < len(self.parts) and all(
            expression.fullmatch(part) for part, expression in zip(parts, self.parts, strict=False)
        )


def _expression(part: str, name: str, seen: set[str]) -> str:
    """Return the regular expression of a part of the path; notes in `seen` which parts of dates it has."""
    made, at = [], 0
    for field in _FIELD.finditer(part):
        made.append(_literal(part[at : field.start()]))
        at = field.end()
        if field[0] == "*" or field["name"] == "variable":
            made.append("[^/]*" if field[0] == "*" else "[^/]+")
        elif field["name"] == name and field["dates"]:
            made.append(_dates(field["dates"], seen))
        else:
            message = f"the field {quoted(field[0])} is not known"
            known = f"{{{name}:%Y-%m}} is a date of the axis, {{variable}} any name, * any text"
            raise usage_error(message, known)
    return "".join(made) + _literal(part[at:])


def _literal(text: str) -> str:
    if "{" in text or "}" in text:
        raise usage_error(f"a brace of {quoted(text)} has no other one", _ADVICE)
    return re.escape(text)


def _dates(text: str, seen: set[str]) -> str:
    made = []
    split = re.split(r"%(.?)", text)
    for literal, directive in zip(split[::2], [*split[1::2], None], strict=True):
        made.append(re.escape(literal))
        if directive is None:
            continue
        if directive not in _DIRECTIVES:
            known = ", ".join(f"%{each}" for each in _DIRECTIVES)
            raise usage_error(f"the directive {quoted(f'%{directive}')} is not known", f"known: {known}")
        digits, group = _DIRECTIVES[directive]
        again = sum(each.partition("_")[0] == group for each in seen)
        seen.add(f"{group}_{again}" if again else group)
        made.append(f"(?P<{group}{f'_{again}' if again else ''}>{digits})")
    return "".join(made)


def _date_text(found: dict[str, str]) -> str | None:
    """Return the date that its parts make; a day of the year counts as days from its beginning."""
    if "yearday" in found:
        return f"{found['year']}+{int(found['yearday']) - 1}"
    kept = []
    for name in _ORDER:
        if name not in found:
            break
        kept.append(found[name])
    day, clock = "-".join(kept[:3]), ":".join(kept[3:])
    return f"{day}T{clock}" if clock else day
