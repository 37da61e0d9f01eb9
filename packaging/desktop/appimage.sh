#!/bin/sh
# Makes an AppImage of the self-contained folder: sh packaging/desktop/appimage.sh FOLDER [OUT]
# It needs appimagetool; or mksquashfs, and in APPIMAGE_RUNTIME the file that AppImages begin with
# (runtime-MACHINE of the project AppImage/type2-runtime).
set -eu

say() { printf 'refbrowser: %s\n' "$*" >&2; }
stop() { say "$*"; exit 1; }
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)

[ $# -ge 1 ] || stop "say which folder: one that packaging/desktop/bundle.py has made"
folder=$(CDPATH='' cd -- "$1" && pwd)
out=${2:-$(dirname -- "$folder")}
target=$out/$(basename -- "$folder").AppImage
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What an AppImage has at its top; the folder itself is in it as it is.
cp -a "$folder" "$work/AppDir"
cd "$work/AppDir"
ln -s refbrowser AppRun
ln -s share/applications/refbrowser.desktop refbrowser.desktop
ln -s share/icons/hicolor/scalable/apps/refbrowser.svg refbrowser.svg
ln -s share/icons/hicolor/256x256/apps/refbrowser.png .DirIcon
mkdir usr
ln -s ../share usr/share

export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}"
if command -v appimagetool >/dev/null 2>&1; then
    appimagetool --no-appstream "$work/AppDir" "$target"
elif command -v mksquashfs >/dev/null 2>&1 && [ -f "${APPIMAGE_RUNTIME:-}" ]; then
    # Blocks are small: starting reads a little of each of a thousand files.
    mksquashfs "$work/AppDir" "$work/image" -comp zstd -b 128K -root-owned -noappend -no-progress -quiet
    cat "$APPIMAGE_RUNTIME" "$work/image" >"$target"
else
    stop "appimagetool was not found, nor mksquashfs with a runtime in APPIMAGE_RUNTIME: no AppImage was made"
fi
chmod 755 "$target"
say "written: $target"
