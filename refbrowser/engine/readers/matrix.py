"""Readers by arrays: which of them reads what, and what is the cause where one does not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.readers.features import FeatureFinder, Features, needed
from refbrowser.engine.readers.outcome import ReaderVerdict, Trial
from refbrowser.engine.readers.rules import KnownReader, Remedy, Rule, RuleBook, rule_book
from refbrowser.engine.readers.versions import version_key
from refbrowser.model.nodes import ArrayNode

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

#: The worst first: what a reader refuses it cannot read wrongly, and nobody notices what is read wrongly.
_WORST = (
    ReaderVerdict.REFUSES,
    ReaderVerdict.WRONG,
    ReaderVerdict.OPENS,
    ReaderVerdict.UNKNOWN,
    ReaderVerdict.DECODES,
)
#: Where nothing is read, it does not matter what else is not known.
_UNREAD = (ReaderVerdict.REFUSES, ReaderVerdict.OPENS)
#: What is to be opened before anything else counts, by how its features begin, in this order.
_DECISIVE = ("form:", "metadata:")
_NOT_KNOWN = "is not known to read this"


class ReaderVersion(NamedTuple):
    """A column of the matrix."""

    reader: KnownReader
    version: str

    @property
    def label(self) -> str:
        """Its title and version."""
        return f"{self.reader.title} {self.version}"

    @property
    def name(self) -> str:
        """As the command line takes it."""
        return f"{self.reader.name}={self.version}"


@dataclass(frozen=True, slots=True)
class Cause:
    """Why an array is not read.

    Attributes
    ----------
    features
        What the array has that the reader does not read.
    verdict
        What comes of it.
    reason
        What the reader does, as a phrase that begins with a verb.
    source
        Where that is known from; empty where it is not known.
    remedy
        What helps; None where nothing is known to.
    """

    features: tuple[str, ...]
    verdict: ReaderVerdict
    reason: str
    source: str = ""
    remedy: Remedy | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """What one version of a reader makes of arrays that need the same.

    Attributes
    ----------
    causes
        Why it is not read, the worst first; empty where it decodes.
    sources
        Where it is known from that values are read.
    """

    verdict: ReaderVerdict
    causes: tuple[Cause, ...] = ()
    sources: tuple[str, ...] = ()
    fallback: Remedy | None = None

    @property
    def remedy(self) -> Remedy | None:
        """What makes it readable: what the causes name where that is one, else what suits the reader."""
        if self.verdict is ReaderVerdict.DECODES:
            return None
        named = {cause.remedy.name: cause.remedy for cause in self.causes if cause.remedy is not None}
        is_one = len(named) == 1 and all(cause.remedy is not None for cause in self.causes)
        return next(iter(named.values())) if is_one else self.fallback


@dataclass(frozen=True, slots=True)
class ArrayGroup:
    """Arrays of which every reader makes the same, for the same causes.

    Attributes
    ----------
    features
        What any of them has.
    needs
        What the first of them has.
    arrays
        Their paths, in the order of the document.
    cells
        One for each column of the matrix.
    """

    features: Features
    needs: Features
    arrays: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Readers by arrays.

    Attributes
    ----------
    document
        What was opened, as the user named it.
    columns
        Versions of readers.
    groups
        A row for all arrays of which the same becomes, in the order of the document.
    is_asked
        Whether the readers were named: what they cannot read is a failure then.
    tried
        What installed readers made of a sample, where they were tried.
    """

    document: str
    columns: tuple[ReaderVersion, ...]
    groups: tuple[ArrayGroup, ...]
    is_asked: bool = False
    tried: tuple[Trial, ...] = ()

    def verdict(self, column: int) -> ReaderVerdict:
        """Return the worst verdict of a column; `DECODES` where there is no array."""
        return worst(group.cells[column].verdict for group in self.groups)


def worst(verdicts: Iterable[ReaderVerdict]) -> ReaderVerdict:
    """Return the worst of some verdicts; `DECODES` of none."""
    return min(verdicts, key=_WORST.index, default=ReaderVerdict.DECODES)


def chosen_columns(wanted: Iterable[str], book: RuleBook) -> tuple[ReaderVersion, ...]:
    """Return the columns that texts such as ``zarr-python=3.1`` name; all of the table where there are none.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is no such reader, or what stands behind ``=`` is no version.
    """
    found = []
    for text in wanted:
        name, _, said = text.partition("=")
        reader = book.reader(name.strip())
        version = said.strip() or reader.versions[-1]
        version_key(version)
        found.append(ReaderVersion(reader, version))
    if found:
        return tuple(dict.fromkeys(found))
    return tuple(ReaderVersion(reader, each) for reader in book.readers.values() for each in reader.versions)


def reader_matrix(
    dataset: Dataset,
    arrays: Sequence[str] = (),
    wanted: Sequence[str] = (),
    control: JobControl | None = None,
    book: RuleBook | None = None,
) -> Matrix:
    """Return which readers read the arrays of a dataset; nothing is read of its values.

    Arrays that need the same are judged once.

    Parameters
    ----------
    arrays
        Absolute paths; all arrays where there are none.
    wanted
        Readers, as `chosen_columns` takes them; all where there are none.
    book
        Other rules than ours.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is no such array, or reader.
    Cancelled
        The control was cancelled.
    """
    book, control = book or rule_book(), control or JobControl()
    columns = chosen_columns(wanted, book)
    finder, needing = FeatureFinder(dataset), dict[Features, list[str]]()
    for node in _nodes(dataset, arrays):
        control.token.check()
        needing.setdefault(finder.features(node), []).append(node.path)
    alike: dict[tuple[Cell, ...], list[Features]] = {}
    for features in needing:
        control.token.check()
        alike.setdefault(tuple(judge(features, column, book) for column in columns), []).append(features)
    groups = []
    for cells, same in alike.items():
        paths = tuple(path for each in same for path in needing[each])
        groups.append(ArrayGroup(frozenset().union(*same), same[0], paths, cells))
    return Matrix(dataset.path, columns, tuple(groups), bool(wanted))


def _nodes(dataset: Dataset, arrays: Sequence[str]) -> Iterable[ArrayNode]:
    if not arrays:
        return (node for node in dataset.hierarchy.walk() if isinstance(node, ArrayNode))
    return [dataset.array(path).node for path in arrays]


def judge(features: Features, column: ReaderVersion, book: RuleBook) -> Cell:
    """Return what a version of a reader makes of features.

    The verdict is the worst of all rules that are about one of them. A feature that it has to know, and that
    no rule is about, leaves it open, unless it cannot be read anyway.
    """
    rules = _rules_of(column, features, book, set())
    applied = [(rule, found) for rule in rules if (found := rule.concerned(features))]
    fallback = book.remedies.get(column.reader.remedy)
    causes = [
        Cause(tuple(sorted(found)), rule.outcome, rule.reason, rule.source, book.remedies.get(rule.remedy))
        for rule, found in applied
        if rule.outcome is not ReaderVerdict.DECODES
    ]
    covered = {feature for _, found in applied for feature in found}
    unknown = tuple(each for each in needed(features) if each not in covered)
    if unknown and worst(cause.verdict for cause in causes) not in _UNREAD:
        causes.append(Cause(_decisive(unknown), ReaderVerdict.UNKNOWN, _NOT_KNOWN, remedy=fallback))
    causes = _decisive_causes(sorted(causes, key=lambda cause: _WORST.index(cause.verdict)))
    if causes:
        return Cell(causes[0].verdict, tuple(causes), (), fallback)
    return Cell(ReaderVerdict.DECODES, (), tuple(dict.fromkeys(rule.source for rule, _ in applied)))


def _decisive(features: tuple[str, ...]) -> tuple[str, ...]:
    """Return those features of a facet that settles what becomes of all others; all where there is none."""
    for facet in _DECISIVE:
        found = tuple(each for each in features if each.startswith(facet))
        if found:
            return found
    return features


def _decisive_causes(causes: list[Cause]) -> list[Cause]:
    """Return the causes that settle the matter: in a form that cannot be opened, codecs do not count."""
    for facet in _DECISIVE:
        found = [
            cause
            for cause in causes
            if cause.verdict is causes[0].verdict and any(each.startswith(facet) for each in cause.features)
        ]
        if found:
            return found
    return causes


def _rules_of(column: ReaderVersion, features: Features, book: RuleBook, seen: set[str]) -> list[Rule]:
    """Return the rules of a reader, and of those that it reads by, each of them once."""
    seen.add(column.reader.name)
    found = list(book.of_reader(column.reader.name, column.version))
    for each in column.reader.through:
        if each.reader in seen or not each.is_asked(features):
            continue
        other = ReaderVersion(book.readers[each.reader], each.version)
        if each.is_alone:
            found += book.of_reader(each.reader, each.version)
        else:
            found += _rules_of(other, features, book, seen)
    return found
