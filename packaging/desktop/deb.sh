#!/bin/sh
# Makes a package for Debian and Ubuntu of the self-contained folder: sh packaging/desktop/deb.sh FOLDER [OUT]
# It needs dpkg-deb alone. The package has no scripts: what desktops know of types and entries is renewed by dpkg.
set -eu

say() { printf 'refbrowser: %s\n' "$*" >&2; }
stop() { say "$*"; exit 1; }
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)

[ $# -ge 1 ] || stop "say which folder: one that packaging/desktop/bundle.py has made"
folder=$(CDPATH='' cd -- "$1" && pwd)
out=${2:-$(dirname -- "$folder")}
version=$("$folder/refbrowser" --version | cut -d' ' -f2)
machine=$(dpkg --print-architecture)
target=$out/refbrowser_${version}_$machine.deb
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/DEBIAN" "$work/usr/bin" "$work/usr/lib" "$work/usr/share/doc/refbrowser"
cp -a "$folder" "$work/usr/lib/refbrowser"
# What desktops read is in the system's folders; all else stays together.
cp -a "$work/usr/lib/refbrowser/share/." "$work/usr/share/"
rm -r "$work/usr/lib/refbrowser/share" "$work/usr/lib/refbrowser/add-to-desktop"
ln -s ../lib/refbrowser/refbrowser "$work/usr/bin/refbrowser"
cat "$root/LICENSE" "$folder/licences.txt" >"$work/usr/share/doc/refbrowser/copyright"
chmod -R u+rwX,go+rX,go-w "$work"

# The C library must be as new as the newest symbol that anything in the folder asks for.
glibc=$(find "$folder" -type f \( -name '*.so*' -o -name 'python3*' \) -exec grep -aoh 'GLIBC_2\.[0-9]*' {} + |
    sort -Vu | tail -n 1 | cut -d_ -f2)
size=$(du -sk --apparent-size "$work/usr" | cut -f1)
cat >"$work/DEBIAN/control" <<END
Package: refbrowser
Version: $version
Architecture: $machine
Section: science
Priority: optional
Maintainer: the refbrowser developers${DEBEMAIL:+ <$DEBEMAIL>}
Installed-Size: $size
Depends: libc6 (>= $glibc), libstdc++6, libgl1, libegl1, libfontconfig1, libfreetype6, libdbus-1-3, libx11-6, libx11-xcb1, libxcb1, libglib2.0-0t64 | libglib2.0-0, xkb-data
Recommends: shared-mime-info, desktop-file-utils, hicolor-icon-theme
Description: opens, repairs and exports datasets described by references
 Reference documents (kerchunk) say which bytes of which files make up each
 chunk of an array. refbrowser shows, plots, audits, edits and exports them, and
 makes them of netCDF, HDF5, GRIB, FITS and TIFF files. It reads Zarr, Icechunk,
 DMR++, ncstream and Awkward 0 as well.
 .
 The package brings a Python of its own and all that it needs.
END

export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}"
dpkg-deb --root-owner-group -Zzstd --build "$work" "$target" >/dev/null
say "written: $target"
