"""Files of data added to a branch of a repository along a dimension: references to them, or their chunks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from refbrowser.engine.compute import Compute
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.appending.appending import Appended, append_edit, append_plan
from refbrowser.exporting.combining.combination import Combination
from refbrowser.exporting.combining.combined_proof import CombinedProof, named_places
from refbrowser.exporting.combining.plan import Plan
from refbrowser.io.origins import Origin
from refbrowser.wings.icechunk.changing.committing import CommitOrder, commit_changes
from refbrowser.wings.icechunk.changing.document_changes import document_changes
from refbrowser.wings.icechunk.changing.merged_changes import place_of
from refbrowser.words import counted_plain


def append_to_repository(
    target: str,
    request: Combination,
    control: JobControl,
    compute: Compute,
    told: Callable[[Plan], None],
    chosen: Mapping[str, Any],
) -> Appended:
    """Add files to a branch of a repository as one commit, once values were compared with those of the files.

    Parameters
    ----------
    target
        The repository.
    request
        The files, and what is done about what differs, as for documents.
    chosen
        `message` and `to_branch` of the commit, and `native`: whether chunks are copied, not referred to.

    Raises
    ------
    RefbrowserError
        As `append_files` does; `E_META`: others added to the same dimension meanwhile.
    """
    if request.target:
        message = "a commit is made to the repository itself"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="leave -o out")
    branch = str(chosen.get("to_branch") or "")
    opening = OpenRequest(
        target,
        allow=request.allow,
        storage_options=request.storage_options,
        settings=request.settings,
        stale=request.stale,
        options={"branch": branch} if branch else {},
    )
    with open_dataset(opening, control) as dataset:
        plan = append_plan(dataset, request, control, compute)
        told(plan)
        document = dataset.document.apply(append_edit(dataset, plan, control))
        readable = dataset.with_access(dataset.access.allow(named_places(plan)))
        proof = CombinedProof(plan)
        proof.check(readable.with_document(document, control), range(1, len(plan.files)), control.token)
        changes = document_changes(dataset.document, document, control.check)
        axis = plan.axes[0]
        order = CommitOrder(
            message=str(chosen.get("message") or _message(plan)), copies=bool(chosen.get("native"))
        )
        control.stage("committing")
        found = commit_changes(readable, changes, order, control)
        if not found.snapshot:
            places = ", ".join(place_of(each) for each in found.conflicts[:3])
            message = f"others changed the same meanwhile: {places}" if places else "nothing was added"
            raise RefbrowserError(ErrorKind.META, message, Place(document=target), "append again")
        return Appended(
            target=target,
            along=axis.name,
            before=axis.lengths[0],
            after=axis.size,
            files=len(plan.files) - 1,
            left_out=plan.left_out,
            mismatches=plan.mismatches,
            references=len(document.refs) - len(dataset.document.refs),
            compared=proof.compared,
            unread=proof.unread,
            snapshot=found.snapshot,
        )


def folders_of(plan: Plan) -> tuple[Origin, ...]:
    """Return where the files of a plan lie: what may be read once they are added."""
    return tuple(named_places(plan))


def _message(plan: Plan) -> str:
    """Return what was added, in one line."""
    names = [each.name for each in plan.files[1:]]
    more = f" to {names[-1]}" if len(names) > 1 else ""
    if plan.filled:
        return f"Fill {counted_plain(plan.filled, 'missing time')} with {names[0]}{more}"
    return f"Append {names[0]}{more} along {plan.axes[0].name}"
