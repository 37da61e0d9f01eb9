#!/bin/sh
# Tries what was made, as a user would: sh packaging/desktop/try.sh COMMAND [FOLDER]
# COMMAND starts the program. The sample is read, plotted and repaired; FOLDER keeps the picture and the documents.
# No Python is needed. With DISPLAY set, the window is opened as well.
set -eu

[ $# -ge 1 ] || { echo "say what starts the program" >&2; exit 1; }
program=$1
folder=${2:-$(mktemp -d)}

check() {
    printf '%s\n' "tried: $*" >&2
}

mkdir -p "$folder"
cd "$folder"
# It can be tried again: what was written before is not in the way.
rm -rf sample expanded.json sst.nc sst.zarr
"$program" --version
"$program" sample sample --quiet
"$program" info sample/sea_surface.json >info.txt
grep -q '/ocean/sst' info.txt
check "the sample is opened"

"$program" read sample/sea_surface.json /ocean/sst --select 6,90,180 >value.txt
test -s value.txt
check "a value is read"

"$program" --screenshot window.png --array /ocean/sst sample/sea_surface.json
test "$(wc -c <window.png)" -gt 20000
check "the window is drawn with a plot: $folder/window.png"

# A document is changed and written: its templates and rules become references.
"$program" export sample/sea_surface.json expanded.json --to refs-v0 --quiet
"$program" diff sample/sea_surface.json expanded.json >differences.txt || test $? -eq 5
check "a document is saved, and holds the same"

# Libraries in C, each in a process of its own: HDF5 with its filters, Zarr.
"$program" export sample/sea_surface.json sst.nc --to netcdf4 --array /ocean/sst --quiet
"$program" info sst.nc >netcdf.txt
grep -q sst netcdf.txt
"$program" export sample/sea_surface.json sst.zarr --to zarr-v3 --array /ocean/sst --quiet
"$program" check sst.zarr >check.txt
check "netCDF and Zarr are written and read"

if [ -n "${DISPLAY:-}" ]; then
    "$program" --array /ocean/sst sample/sea_surface.json &
    started=$!
    sleep 10
    kill -0 "$started"
    check "a window is open on $DISPLAY"
    kill -KILL "$started"
fi
echo "all of it works"
