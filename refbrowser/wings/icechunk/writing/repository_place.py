"""An Icechunk repository as what an export writes into: a snapshot, to which a branch points when right.

Nothing points to the snapshot before it is whole and was read again: who reads the branch meanwhile, or after
an export that was interrupted, finds what was there before. A new repository on a disk is made beside its
name. Of credentials nothing is stored: a repository says where its sources are, the reader brings the rest.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, TargetExistsError, quoted
from refbrowser.exporting.folder import Making, check_space
from refbrowser.io.files.atomic import check_unprotected
from refbrowser.io.files.final_names import give_name
from refbrowser.io.origins import ConnectionSettings, in_object_store, is_below, split_url
from refbrowser.loading import to_install
from refbrowser.wings.icechunk.writing.containers import (
    Container,
    azure_facts,
    azure_keys,
    azure_service,
    google_keys,
    google_options,
    s3_keys,
    s3_options,
)

#: Where a new repository is made, in the folder of what is not complete.
_NEW = "repository"
#: The branch that every repository has.
MAIN = "main"


def check_writable(target: str | os.PathLike[str]) -> None:
    """Make sure that a repository on this disk may be written, and that nothing is written elsewhere then.

    Raises
    ------
    RefbrowserError
        `E_IO`: it is write-protected; `E_UNSAFE`: a link in it leads out of it.
    """
    check_unprotected(target)
    real = os.path.realpath(target)
    for folder in (real, os.path.join(real, "refs")):
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_symlink() and not is_below(os.path.realpath(entry.path), real):
                    message = "a link leads out of the repository, and nothing is written through it"
                    raise RefbrowserError(ErrorKind.UNSAFE, message, Place(path=entry.path))


def library() -> Any:
    """Return the module `icechunk`.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it is not installed.
    """
    try:
        import icechunk
    except ImportError:
        message = "writing Icechunk repositories needs the package icechunk"
        advice = to_install("refbrowser[icechunk]")
        raise RefbrowserError(ErrorKind.USAGE, message, advice=advice) from None
    if "ICECHUNK_LOG" not in os.environ:
        # It writes to standard error what is no matter here: that one disk has no safe concurrent commits.
        icechunk.set_logs_filter("error")
    return icechunk


@contextmanager
def told_of(target: str) -> Iterator[None]:
    """Have the library's errors be those of a target.

    Raises
    ------
    RefbrowserError
        `E_IO`: what the library raised, in one line.
    """
    icechunk = library()
    try:
        yield
    except icechunk.IcechunkError as error:
        # What was wrong with the disk or the store comes last, after what the library was about.
        told = str(error).rpartition("`->")[2].partition("context:")[0]
        message = f"Icechunk: {quoted(' '.join(told.replace('|', ' ').split()))}"
        raise RefbrowserError(ErrorKind.IO, message, Place(path=target)) from error
    except BaseException as error:
        # So it tells of credentials that are none, for example; it derives from no exception of ours.
        if type(error).__name__ != "PanicException":
            raise
        message = f"Icechunk: {quoted(' '.join(str(error).split()))}"
        raise RefbrowserError(ErrorKind.IO, message, Place(path=target)) from error


def storage_of(target: str, settings: ConnectionSettings) -> Any:
    """Return how the library reaches a repository.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it is a whole bucket, or is reached in a way in which nothing can be written.
    """
    icechunk = library()
    if not in_object_store(target):
        if "://" in target and not target.startswith("file://"):
            message = "nothing can be written to such an address"
            advice = "name the bucket that the repository is in"
            raise RefbrowserError(ErrorKind.USAGE, message, Place(url=target), advice)
        return icechunk.local_filesystem_storage(target.removeprefix("file://"))
    parts = split_url(target)
    key = parts.path.strip("/")
    if not key:
        message = "the target is a whole bucket"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(url=target), "name a folder in it")
    bucket = {"bucket": parts.origin.host, "prefix": key}
    if parts.scheme == "s3":
        return icechunk.s3_storage(**bucket, **s3_options(settings), **s3_keys(settings))
    if parts.scheme == "gs":
        return icechunk.gcs_storage(**bucket, **google_keys(settings), config=google_options(settings))
    facts = azure_facts(parts.origin, settings)
    return icechunk.azure_storage(
        account=facts["AccountName"],
        container=parts.origin.host.partition("@")[0],
        prefix=key,
        **azure_keys(facts),
        config=azure_service(facts),
    )


def with_containers(config: Any, containers: Iterable[Container]) -> bool:
    """Add virtual chunk containers that a configuration lacks; tells whether it did. Those there stay."""
    icechunk = library()
    there = set(config.virtual_chunk_containers or ())
    new = [each for each in containers if each.prefix not in there]
    for container in new:
        made = icechunk.VirtualChunkContainer(container.prefix, container.store(icechunk))
        config.set_virtual_chunk_container(made)
    return bool(new)


def storage_text(target: str, settings: ConnectionSettings) -> str:
    """Return Python that says where the repository lies; it holds no credentials."""
    if not in_object_store(target):
        return f"icechunk.local_filesystem_storage({target!r})"
    parts = split_url(target)
    key, host = parts.path.strip("/"), parts.origin.host
    keys = "anonymous=True" if settings.anonymous else "from_env=True"
    if parts.scheme == "s3":
        more = {name: value for name, value in s3_options(settings).items() if value}
        told = "".join(f", {name}={value!r}" for name, value in more.items())
        return f"icechunk.s3_storage(bucket={host!r}, prefix={key!r}, {keys}{told})"
    if parts.scheme == "gs":
        config = google_options(settings)
        told = f", config={config!r}" if config else ""
        return f"icechunk.gcs_storage(bucket={host!r}, prefix={key!r}, {keys}{told})"
    facts = azure_facts(parts.origin, settings)
    config = azure_service(facts)
    told = f", config={config!r}" if config else ""
    account, container = facts["AccountName"], host.partition("@")[0]
    return (
        f"icechunk.azure_storage(account={account!r}, container={container!r}, "
        f"prefix={key!r}, from_env=True{told})"
    )


class RepositoryPlace(Making):
    """A repository in which a snapshot is made, that one of its branches gets at the end.

    Parameters
    ----------
    target
        Folder, or URL in an object store.
    settings
        Of the connection to its bucket.
    partial
        A folder of this computer for what is needed meanwhile.
    branch
        That gets the snapshot; made where there is none of the name.
    """

    ignores_case = False

    def __init__(self, target: str, settings: ConnectionSettings, partial: Path, branch: str) -> None:
        self.is_remote = in_object_store(target)
        named = target if self.is_remote else os.path.realpath(target)
        super().__init__(named, partial)
        self.branch = branch
        self._settings = settings
        self._containers: list[Container] = []
        #: The one that is made.
        self.snapshot = ""
        #: What says where it lies; the library makes a folder where it looks.
        self._stored: Any = None
        self._exists = False
        if self.is_remote or os.path.isdir(self.target):
            with told_of(self.target):
                self._stored = storage_of(self.target, self._settings)
                self._exists = bool(library().Repository.exists(self._stored))
        self._repository: Any = None
        #: The snapshot that the branch has before, where there is the branch.
        self._tip: str | None = None

    @property
    def exists(self) -> bool:
        """Whether there is a repository."""
        return self._exists

    @property
    def where(self) -> str:
        """Where the repository is while a snapshot of it is made."""
        return str(self.partial / _NEW) if not self._exists and not self.is_remote else str(self.target)

    def check_replaceable(self, *, force: bool) -> None:
        """Raise `E_IO` where something else than a repository is there, or nothing may be changed."""
        if self.is_remote:
            return
        check_writable(self.target)
        if self._exists:
            return
        path, place = Path(self.target), Place(path=self.target)
        if not path.parent.is_dir():
            raise RefbrowserError(ErrorKind.IO, "there is no such folder", Place(path=str(path.parent)))
        if os.path.lexists(path) and not (path.is_dir() and not any(path.iterdir())):
            message = "the target exists already, and is not an Icechunk repository"
            raise TargetExistsError(ErrorKind.IO, message, place, "choose another name")

    def check_space(self, size: int) -> None:
        """Raise `E_IO` where `size` bytes and a reserve do not fit the disk."""
        if not self.is_remote:
            check_space(Path(self.target).parent, size)

    def prepare(self, *, resume: bool) -> None:
        """Make the folder for what is needed meanwhile."""
        self.partial.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        super().prepare(resume=False)

    def begin(self, containers: list[Container]) -> Any:
        """Open the repository, or make one, and return a session that writes.

        Parameters
        ----------
        containers
            That its chunks need; those that it has stay.
        """
        icechunk = library()
        if self.is_remote and split_url(self.target).scheme == "gs" and self._settings.anonymous:
            # The library would ask the machine itself for a token, whatever address that is at.
            message = "Google Cloud Storage does not accept anonymous writes"
            advice = "set anonymous=false, or a profile, for the bucket"
            raise RefbrowserError(ErrorKind.USAGE, message, Place(url=self.target), advice)
        self._containers = containers
        with told_of(self.target):
            if not self._exists and not self.is_remote:
                self._stored = storage_of(self.where, self._settings)
            known = icechunk.Repository.fetch_config(self._stored) if self._exists else None
            config = known or icechunk.RepositoryConfig.default()
            with_containers(config, containers)
            granted = {each.prefix: each.granted(icechunk) for each in containers}
            opened = icechunk.Repository.open if self._exists else icechunk.Repository.create
            credentials = icechunk.containers_credentials(granted)
            self._repository = opened(self._stored, config=config, authorize_virtual_chunk_access=credentials)
            branches = self._repository.list_branches()
            from_branch = self.branch if self.branch in branches else MAIN
            tip = self._repository.lookup_branch(from_branch)
            self._tip = tip if self.branch in branches else None
            return self._repository.writable_session(from_branch)

    def keep(self, session: Any, message: str) -> Any:
        """Store a snapshot that no branch points to, and return a session that reads it."""
        with told_of(self.target):
            self.snapshot = session.flush(message)
            return self._repository.readonly_session(snapshot_id=self.snapshot)

    def finish(self, *, force: bool) -> None:
        """Have the branch point to the snapshot.

        Raises
        ------
        RefbrowserError
            `E_IO`: somebody else has moved the branch meanwhile.
        """
        with told_of(self.target):
            self._repository.save_config()
            if self._tip is None:
                self._repository.create_branch(self.branch, self.snapshot)
            else:
                self._repository.reset_branch(self.branch, self.snapshot, from_snapshot_id=self._tip)
        if not self._exists and not self.is_remote:
            give_name(self.partial / _NEW, Path(self.target))

    def opened_by(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return the lines of Python that open the branch with xarray.

        Parameters
        ----------
        paths
            Of its arrays. Where none is at the root, a dataset of the root would be empty: a tree is opened.
        """
        is_flat = any(path.count("/") == 1 for path in paths)
        opening = "dataset = xr.open_zarr(session.store, consolidated=False)"
        if not is_flat:
            opening = 'tree = xr.open_datatree(session.store, engine="zarr", consolidated=False)'
        icechunk = library()
        places = ((each.prefix, each.credentials(icechunk)) for each in self._containers)
        granted = "".join(f"        {prefix!r}: {credentials},\n" for prefix, credentials in places)
        mapping = f"{{\n{granted}    }}" if granted else "{}"
        text = (
            "import icechunk\n"
            "import xarray as xr\n\n"
            f"repository = icechunk.Repository.open(\n    {storage_text(self.target, self._settings)},\n"
            "    authorize_virtual_chunk_access="
            f"icechunk.containers_credentials({mapping}),\n)\n"
            f"session = repository.readonly_session({self.branch!r})\n{opening}"
        )
        return tuple(text.split("\n"))
