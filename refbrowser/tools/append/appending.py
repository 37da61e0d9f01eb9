"""Files that are added to a document as an edit of it, after their values were compared."""

from __future__ import annotations

from dataclasses import dataclass

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.exporting.appending.appending import append_edit, append_plan
from refbrowser.exporting.combining.combined_proof import CombinedProof, named_places
from refbrowser.exporting.combining.plan import Plan
from refbrowser.exporting.combining.properties import short
from refbrowser.io.origins import Origin
from refbrowser.references.document.document import Document
from refbrowser.references.edits.edits import Edit
from refbrowser.tools.make.combine_order import CombineOrder
from refbrowser.tools.make.combining import Found, found_of
from refbrowser.words import count_text


@dataclass(frozen=True, slots=True)
class AppendStep:
    """An edit that adds files to a document, what comes of it, that in words, and where the files lie."""

    edit: Edit
    after: Document
    text: str
    folders: tuple[Origin, ...]


def look_to_append(order: CombineOrder, dataset: Dataset, control: JobControl) -> Found:
    """Look at files that are to be added to a document.

    Raises
    ------
    RefbrowserError
        They cannot be added, or it is not plain along which dimension.
    """
    plan = append_plan(dataset, order.request(), control, order.compute.compute())
    return found_of(plan, (), None, added=True)


def append_step(plan: Plan, dataset: Dataset, control: JobControl) -> AppendStep:
    """Return the edit that adds files, after values that are read through it were compared with theirs.

    Raises
    ------
    RefbrowserError
        A difference stands against it, or other values would be read.
    """
    edit = append_edit(dataset, plan, control)
    after = dataset.document.apply(edit)
    proof = CombinedProof(plan)
    control.progress(0, len(plan.files) - 1)
    folders = tuple(named_places(plan))
    changed = dataset.with_access(dataset.access.allow(folders)).with_document(after, control)
    for number in range(1, len(plan.files)):
        proof.check(changed, (number,), control.token)
        control.progress(number, len(plan.files) - 1, note=short(plan.files[number].source))
    axis = plan.axes[0]
    unread = f", {count_text(proof.unread)} could not be read" if proof.unread else ""
    sizes = "" if plan.filled else f": {count_text(axis.lengths[0])} before, {count_text(axis.size)} now"
    text = f"{edit.title}{sizes}. {count_text(proof.compared)} chunks compared with the files, equal{unread}."
    return AppendStep(edit, after, text, folders)
