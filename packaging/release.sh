#!/bin/sh
# Makes all that a release is of what is committed, with its sums: sh packaging/release.sh VERSION [OUT]
#
# Before: set the version in refbrowser/version.py, move the fragments with `python packaging/changes.py VERSION`,
# renew the locked versions (CONTRIBUTING.md), commit. This script checks that and changes nothing in the checkout.
# What this machine cannot make (an AppImage without appimagetool, a package without dpkg-deb) is said at the end.
set -eu

say() { printf 'refbrowser: %s\n' "$*" >&2; }
stop() { say "$*"; exit 1; }
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
here=$root/packaging/desktop
python=${PYTHON:-python3}

[ $# -ge 1 ] || stop "say which version: sh packaging/release.sh 1.2.3"
version=$1
out=${2:-$root/dist/$version}

# What is released is what is committed, says so itself, and is told to users.
[ -z "$(git -C "$root" status --porcelain)" ] || stop "the checkout has changes that are not committed"
said=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$root/refbrowser/version.py")
[ "$said" = "$version" ] || stop "refbrowser/version.py says $said"
left=$(find "$root/changes" -name '*.md' | wc -l)
[ "$left" -eq 0 ] || stop "$left fragments are not in the changelog: python packaging/changes.py $version"
grep -q "^## $version ([0-9-]*)\$" "$root/CHANGELOG.md" || stop "CHANGELOG.md has no section $version with a date"

[ ! -e "$out" ] || stop "there is $out already: a release is made once"
mkdir -p "$out"
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
export SOURCE_DATE_EPOCH

"$python" "$root/packaging/build.py" --output "$out" >/dev/null
wheel=$(ls "$out"/refbrowser-"$version"-*.whl)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" "$here/bundle.py" --wheel "$wheel" --out "$work" ${BUNDLE_PYTHON:+--python "$BUNDLE_PYTHON"}
folder=$(ls -d "$work"/refbrowser-"$version"-*)
name=$(basename -- "$folder")

say "packing $name"
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$work" -cf - "$name" |
    if command -v zstd >/dev/null 2>&1; then zstd -q -T0 -12 -o "$out/$name.tar.zst"; else gzip -9n >"$out/$name.tar.gz"; fi
missing=
sh "$here/appimage.sh" "$folder" "$out" || missing="$missing AppImage"
if command -v dpkg-deb >/dev/null 2>&1; then sh "$here/deb.sh" "$folder" "$out"; else missing="$missing deb"; fi
cp "$folder/bom.json" "$out/$name.bom.json"
cp "$folder/licences.txt" "$out/$name.licences.txt"

(cd "$out" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
(cd "$out" && ls -l)
[ -z "$missing" ] || say "not made on this machine:$missing"
say "written: $out"
