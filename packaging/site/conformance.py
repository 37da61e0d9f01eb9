"""Run the tests that hold refbrowser against other software: ``python conformance.py OUT.json``.

What is written has, for each subject, who judges it and how many tests passed, failed and were not run.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

CHECKOUT = Path(__file__).resolve().parents[2]


class Subject(NamedTuple):
    """What is held against other software.

    Attributes
    ----------
    words
        What it is.
    judge
        Which software, in words.
    packages
        Its packages, whose versions are told.
    tests
        Files or folders below ``tests``.
    """

    words: str
    judge: str
    packages: tuple[str, ...]
    tests: tuple[str, ...]


SUBJECTS = (
    Subject(
        "Reference documents, Version 0 and 1",
        "fsspec, with simple_templates=False",
        ("fsspec",),
        ("references/document/test_fsspec_differential.py", "references/document/test_real_documents.py"),
    ),
    Subject("Gen rules", "fsspec", ("fsspec",), ("references/rules/test_gen_fsspec.py",)),
    Subject(
        "References in the parquet form",
        "fsspec",
        ("fsspec", "pyarrow"),
        ("formats/test_parquet_references.py",),
    ),
    Subject(
        "References made of files",
        "kerchunk, VirtualiZarr",
        ("kerchunk", "virtualizarr"),
        ("contracts/test_made_by_others.py",),
    ),
    Subject(
        "Zarr v2 and v3", "zarr-python", ("zarr", "numcodecs"), ("formats/zarr/test_against_zarr_python.py",)
    ),
    Subject(
        "Every format exported to every other",
        "the reader of each: zarr-python, netCDF4, h5py, siphon, awkward",
        ("zarr", "netCDF4", "h5py", "siphon", "awkward"),
        ("contracts/test_conversions.py", "contracts/test_contract.py"),
    ),
    Subject("NCZarr", "netCDF4", ("netCDF4",), ("exporting/targets/test_export_nczarr.py",)),
    Subject(
        "netCDF-4, written",
        "netCDF4, h5py",
        ("netCDF4", "h5py"),
        ("exporting/targets/test_export_netcdf4.py",),
    ),
    Subject(
        "netCDF classic",
        "netCDF4, kerchunk",
        ("netCDF4", "kerchunk"),
        ("formats/netcdf3/test_classic_files.py",),
    ),
    Subject("CDL", "ncgen", (), ("formats/cdl/test_cdl_against_ncgen.py",)),
    Subject(
        "HDF5 and netCDF-4",
        "h5py, netCDF4, kerchunk",
        ("h5py", "netCDF4", "kerchunk"),
        ("formats/hdf5/test_hdf5_files.py", "formats/hdf5/test_hdf5_kinds.py"),
    ),
    Subject("HDF4", "pyhdf", ("pyhdf",), ("formats/hdf4/test_hdf4.py",)),
    Subject("DMR++", "h5py, VirtualiZarr", ("h5py", "virtualizarr"), ("wings/dmrpp",)),
    Subject("FITS", "astropy", ("astropy",), ("formats/fits",)),
    Subject(
        "GRIB",
        "eccodes, kerchunk",
        ("eccodes", "kerchunk"),
        ("formats/test_grib.py", "formats/test_grib_arrays.py"),
    ),
    Subject("TIFF", "tifffile", ("tifffile", "imagecodecs"), ("formats/tiff",)),
    Subject(
        "Icechunk",
        "icechunk, xarray",
        ("icechunk", "xarray"),
        ("wings/icechunk/test_icechunk_repositories.py", "wings/icechunk/test_icechunk_target.py"),
    ),
    Subject(
        "ncstream and CDM Remote",
        "siphon",
        ("siphon",),
        ("wings/ncstream/reading/test_stream_siphon.py", "wings/ncstream/serving/test_serve_siphon.py"),
    ),
    Subject(
        "Awkward 0",
        "awkward",
        ("awkward",),
        (
            "wings/awkward0/reading/test_awkward_differential.py",
            "wings/awkward0/writing/test_awkward_portable.py",
        ),
    ),
    Subject(
        "The engine of xarray",
        "xarray with netCDF4 and zarr",
        ("xarray", "netCDF4", "zarr"),
        ("test_xarray_backend.py",),
    ),
    Subject(
        "Conventions of CF",
        "xarray, netCDF4",
        ("xarray", "netCDF4"),
        ("model/test_cf.py", "views/plot/test_cf_truth.py"),
    ),
)


def conformance() -> dict[str, Any]:
    """Run the tests and return what they found."""
    tests = sorted({f"tests/{path}" for subject in SUBJECTS for path in subject.tests})
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", "-n", "2", *tests]
        environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ}
        ended = subprocess.run(command, cwd=CHECKOUT, env=environment, check=False).returncode
        # 1: some failed, which is told.
        if ended not in (0, 1):
            sys.exit(f"the tests could not be run: pytest ended with {ended}")
        counts = _counted(report)
    return {
        "refbrowser": version("refbrowser"),
        "python": platform.python_version(),
        "subjects": [
            {"subject": subject.words, "judge": subject.judge, **_sum(counts, subject)}
            for subject in SUBJECTS
        ],
        "versions": _versions(),
    }


def _counted(report: Path) -> dict[str, dict[str, int]]:
    """Return how many tests of each file passed, failed and were not run."""
    counts: dict[str, dict[str, int]] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        # tests.formats.fits.test_fits_files.TestColumns: the file, and a class in it.
        parts = str(case.get("classname")).split(".")
        file = "/".join(parts[: 1 + next(n for n, part in enumerate(parts) if part.startswith("test_"))])
        found = counts.setdefault(f"{file}.py", {"passed": 0, "failed": 0, "skipped": 0})
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            found["failed"] += 1
        else:
            found["skipped" if "skipped" in kinds else "passed"] += 1
    return counts


def _sum(counts: dict[str, dict[str, int]], subject: Subject) -> dict[str, int]:
    total = {"passed": 0, "failed": 0, "skipped": 0}
    for file, found in counts.items():
        if any(file == f"tests/{path}" or file.startswith(f"tests/{path}/") for path in subject.tests):
            for kind, count in found.items():
                total[kind] += count
    return total


def _versions() -> dict[str, str]:
    found = {}
    for name in sorted({name for subject in SUBJECTS for name in subject.packages}, key=str.lower):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(conformance(), indent=1) + "\n", "utf-8")
