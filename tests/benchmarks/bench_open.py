"""Opening a document of 1,000,000 references and listing one array of it, and the memory that this keeps.

Each opener runs in a new process, after its imports. The listing is what fsspec's `ls` of a folder gives: the
name and the size of each of the 50,000 chunks of one array.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from documents import write_large
from processes import Cost, best
from report import figure, heading

REFERENCES = 1_000_000
OURS = (
    """
import numpy as np, zstandard
import refbrowser, refbrowser.api, refbrowser.formats.references, refbrowser.formats.zarr.hierarchy
import refbrowser.engine.store
""",
    """
dataset = refbrowser.open(sys.argv[1])
manifest = dataset["/v03"].node.manifest
coords = np.stack(np.unravel_index(np.arange(np.prod(manifest.grid_shape)), manifest.grid_shape), axis=1)
columns = manifest.columns(coords.astype(np.int64))
sizes = columns.length.tolist()
listing = list(zip((manifest.prefix + key for key in manifest.encoding.encode_many(coords)), sizes))
del coords, columns, sizes
""",
)
FSSPEC = (
    """
import fsspec, fsspec.implementations.reference
from fsspec.implementations.memory import MemoryFileSystem
""",
    """
system = fsspec.filesystem("reference", fo=sys.argv[1], fs=MemoryFileSystem(), simple_templates=False,
                           skip_instance_cache=True)
metadata = (".zarray", ".zattrs")
listing = [item for item in system.ls("v03", detail=True) if not item["name"].endswith(metadata)]
""",
)
VIRTUALIZARR = (
    """
import xarray, virtualizarr, numpy as np
from virtualizarr.parsers import KerchunkJSONParser
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import LocalStore, MemoryStore
""",
    """
registry = ObjectStoreRegistry({"file://": LocalStore(), "s3://b": MemoryStore()})
store = KerchunkJSONParser()("file://" + sys.argv[1], registry)
manifest = store._group.arrays["v03"].manifest
listing = list(manifest.dict().items())
""",
)


def compare(path: Path, ours: Cost, name: str, theirs: Cost, aims: tuple[str, str]) -> None:
    assert ours.listed == theirs.listed == 50_000
    size = f"{path.stat().st_size / 1e6:.0f} MB"
    figure(
        f"open {size} and list an array, CPU (other: {name})", ours.cpu, "s", other=theirs.cpu, aim=aims[0]
    )
    figure(f"memory held (other: {name})", ours.held / 1e6, "MB", other=theirs.held / 1e6, aim=aims[1])
    figure(f"memory at most (other: {name})", ours.peak / 1e6, "MB", other=theirs.peak / 1e6, aim=aims[1])


def main() -> None:
    """Print the figures."""
    heading("Opening a document of 1,000,000 references")
    with tempfile.TemporaryDirectory() as folder:
        path = write_large(Path(folder) / "large.json", REFERENCES)
        ours = best(*OURS, path)
        compare(path, ours, "fsspec", best(*FSSPEC, path), ("at most 1/5 = 0.2", "at most 1/8 = 0.125"))
        compare(path, ours, "VirtualiZarr", best(*VIRTUALIZARR, path, runs=1), ("", ""))
        alone = best(OURS[0], "dataset = refbrowser.open(sys.argv[1]); listing = []", path)
        figure("held per reference, all that opening keeps", alone.held / REFERENCES, "B", aim="at most 40")
        write_large(path, REFERENCES, run=1)
        theirs = best(*FSSPEC, path)
        figure(
            "the same where each chunk is in another file, CPU (other: fsspec)",
            best(*OURS, path).cpu,
            "s",
            other=theirs.cpu,
            aim="at most 1/5 = 0.2",
        )


if __name__ == "__main__":
    main()
