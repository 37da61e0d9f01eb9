"""Where the user wants exports to run, and asking who works there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_spaced, size_text

if TYPE_CHECKING:
    from refbrowser.engine.compute import Compute, ComputeStatus
    from refbrowser.engine.jobs import JobControl

#: Values of the preference that says where.
HERE, PROCESSES, CLUSTER = "here", "processes", "cluster"


@dataclass(frozen=True, slots=True)
class ComputeChoice:
    """Where exports run, as the preferences say it; looked at when it is used.

    Attributes
    ----------
    processes
        Of this computer; 0 for one a core.
    scheduler
        The address of a Dask scheduler.
    ca, cert, key
        Files for an address of TLS; Dask's own settings count where they are empty.
    """

    kind: str = HERE
    processes: int = 0
    scheduler: str = ""
    ca: str = ""
    cert: str = ""
    key: str = ""

    @property
    def words(self) -> str:
        """Where that is."""
        if self.kind == CLUSTER:
            return f"on {one_line(self.scheduler) or 'a Dask cluster without an address'}"
        if self.kind == PROCESSES:
            counts = {0: "one process for each core", 1: "one process"}
            many = counts.get(self.processes, f"{count_text(self.processes)} processes")
            return f"in {many} of this computer"
        return "in this program"

    def compute(self) -> Compute:
        """Return it as the engine takes it.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there is no address, or it is none.
        """
        from refbrowser.engine.compute import Compute
        from refbrowser.errors import ErrorKind, RefbrowserError

        if self.kind == HERE:
            return Compute()
        if self.kind == PROCESSES:
            return Compute.parse(f"local:{self.processes}" if self.processes else "local")
        if not self.scheduler:
            advice = "Edit > Preferences > Compute has a field for it"
            raise RefbrowserError(ErrorKind.USAGE, "no Dask scheduler address is given", advice=advice)
        is_tls = self.scheduler.startswith("tls:")
        files = {"ca": self.ca, "cert": self.cert, "key": self.key} if is_tls else {}
        return Compute.parse(self.scheduler, **files)


def ask_workers(choice: ComputeChoice, control: JobControl) -> ComputeStatus | None:
    """Return who works where exports run; None for processes, which are started when there is work.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the choice makes no sense, or Dask is not installed. `E_SOURCE`: the scheduler does not
        answer, or has no workers.
    """
    from importlib.util import find_spec

    from refbrowser.errors import ErrorKind, RefbrowserError
    from refbrowser.loading import to_install

    compute = choice.compute()
    if compute.processes:
        return None
    if not compute.is_here and find_spec("distributed") is None:
        advice = to_install("refbrowser[dask]")
        raise RefbrowserError(ErrorKind.USAGE, "Dask is not installed", advice=advice)
    with compute.open(control.token) as executor:
        return executor.status()


def workers_text(status: ComputeStatus) -> str:
    """Return who works, in words."""
    workers = counted_spaced(status.workers, "worker")
    threads = counted_spaced(status.threads, "thread")
    text = f"{workers} with {threads}"
    if status.memory is not None:
        of_all = f" of {size_text(status.memory_limit)}" if status.memory_limit else ""
        text += f"; {size_text(status.memory)}{of_all} of memory used"
    return f"{text}."


def where_text(choice: ComputeChoice, why_here: str, partly_here: str = "") -> str:
    """Return where an export runs, in words.

    Parameters
    ----------
    why_here
        Why all of it is made in this program, wherever exports are to run; empty where it is not.
    partly_here
        What of it is; empty where nothing is.
    """
    if why_here and choice.kind != HERE:
        return f"{ComputeChoice().words}, not {choice.words}: {why_here}"
    if partly_here and choice.kind != HERE:
        return f"{choice.words}; in this program: {partly_here}"
    return choice.words
