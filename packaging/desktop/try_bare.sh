#!/bin/sh
# Tries the folder, the AppImage or the Debian package on a system that has no Python, only what every desktop has:
#   sh packaging/desktop/try_bare.sh FOLDER|FILE.AppImage|FILE.deb ROOT [RELEASE]
# ROOT is made by debootstrap where it is not there (Debian's RELEASE, bookworm unless said) and can be used again. Run as
# root on Linux. There is no network inside. With DISPLAY, the window is opened on that X server, which is outside.
set -eu

say() { printf 'refbrowser: %s\n' "$*" >&2; }
stop() { say "$*"; exit 1; }
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

[ $# -ge 2 ] || stop "say what is tried, and in which root"
made=$(readlink -f -- "$1")
root=$2
release=${3:-bookworm}
glib=libglib2.0-0
case $release in bookworm | bullseye | jammy) ;; *) glib=libglib2.0-0t64 ;; esac
# What desktops have: the C library, X, OpenGL, fonts, and what tells programs about types of files.
desktop=libgl1,libegl1,libx11-6,libx11-xcb1,libxcb1,libfontconfig1,libfreetype6,libdbus-1-3,$glib,xkb-data
desktop=$desktop,libstdc++6,fonts-dejavu-core,ca-certificates,shared-mime-info,desktop-file-utils

if [ ! -x "$root/bin/sh" ]; then
    say "making $root"
    debootstrap --variant=minbase --include="$desktop" "$release" "$root" >/dev/null
fi
root=$(readlink -f -- "$root")
if chroot "$root" sh -c 'command -v python3 python' >/dev/null; then stop "$root has a Python"; fi
mkdir -p "$root/tried" "$root/work" "$root/tmp/.X11-unix"
cp "$here/try.sh" "$root/work/try.sh"

case $made in
*.deb)
    cp "$made" "$root/work/refbrowser.deb"
    prepare='dpkg -i /work/refbrowser.deb >/dev/null'
    program=/usr/bin/refbrowser
    ;;
*.AppImage)
    cp "$made" "$root/work/refbrowser.AppImage"
    # Mounting needs the machine's FUSE; what is unpacked instead is the same.
    prepare='cd /work && ./refbrowser.AppImage --appimage-extract >/dev/null'
    program=/work/squashfs-root/AppRun
    ;;
*)
    prepare=:
    program=/tried/refbrowser
    ;;
esac

export root made prepare program
unshare --mount --net --pid --fork sh -euc '
    if [ -d "$made" ]; then
        mount --bind "$made" "$root/tried"
        mount -o remount,ro,bind "$root/tried"
    fi
    [ ! -d /tmp/.X11-unix ] || mount --bind /tmp/.X11-unix "$root/tmp/.X11-unix"
    mount -t proc proc "$root/proc"
    mount --bind /dev "$root/dev"
    exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/work/home LANG=C.UTF-8 \
        ${DISPLAY:+DISPLAY="$DISPLAY"} sh -euc "mkdir -p /work/home; $prepare; sh /work/try.sh $program /work/try"
'
say "what was made lies in $root/work/try"
