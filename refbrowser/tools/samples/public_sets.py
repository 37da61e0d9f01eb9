"""Public datasets of the field that can be opened by their URL. Nothing is asked of them until one is."""

from __future__ import annotations

from typing import NamedTuple


class PublicSet(NamedTuple):
    """A dataset that anybody may read.

    Attributes
    ----------
    name
        A short one.
    url
        What is opened.
    format
        Which it has, in words.
    words
        What it holds, in a line.
    allow
        The origin that its references lead to, which it may read only once that is allowed; empty where its
        data lies with it.
    """

    name: str
    url: str
    format: str
    words: str
    allow: str = ""


PUBLIC_SETS = (
    PublicSet(
        "chesapeake",
        "https://noaa-nodd-kerchunk-pds.s3.amazonaws.com/nos/cbofs/cbofs.fields.best.nc.zarr",
        "kerchunk references",
        "NOAA's forecast of Chesapeake Bay: currents, salinity and temperature, renewed each day",
        "s3://noaa-nos-ofs-pds",
    ),
    PublicSet(
        "era5-icechunk",
        "s3://earthmover-icechunk-era5/icechunkV2",
        "Icechunk",
        "ERA5 of ECMWF since 1940, hourly, at the surface and on pressure levels",
    ),
    PublicSet(
        "aifs",
        "s3://dynamical-ecmwf-aifs-single/ecmwf-aifs-single-forecast/v0.1.0.icechunk",
        "Icechunk",
        "forecasts of ECMWF's AIFS, kept by dynamical.org",
    ),
    PublicSet(
        "era5-zarr",
        "gs://gcp-public-data-arco-era5/ar/full_37-1h-0p25deg-chunk-1.zarr-v3",
        "Zarr",
        "ERA5 of ECMWF, hourly, 37 levels, kept by Google",
    ),
    PublicSet(
        "hrrr",
        "https://noaa-hrrr-bdp-pds.s3.amazonaws.com/hrrr.20240601/conus/hrrr.t12z.wrfsfcf00.grib2.idx",
        "GRIB index",
        "NOAA's forecast of North America at 3 km, 1 June 2024, by its index",
    ),
    PublicSet(
        "sentinel2",
        "https://sentinel-cogs.s3.us-west-2.amazonaws.com/sentinel-s2-l2a-cogs/36/Q/WD/2020/7/"
        "S2A_36QWD_20200701_0_L2A/TCI.tif",
        "TIFF (COG)",
        "a picture of Sentinel-2 in true colour, with overviews",
    ),
    PublicSet(
        "nuclei",
        "https://uk1s3.embassy.ebi.ac.uk/idr/zarr/v0.4/idr0062A/6001240.zarr",
        "OME-Zarr",
        "nuclei of cells in three dimensions, of the Image Data Resource",
    ),
)
