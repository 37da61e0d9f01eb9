#!/bin/sh
# Sets refbrowser up in this checkout and opens its window: sh packaging/run.sh [PATH...]
# With no display the window is drawn to refbrowser.png instead.
set -u
. "$(dirname -- "$0")/environment.sh"

prepare run

[ $# -gt 0 ] || set -- "$root/resources/sample/sea_surface.json"

if [ "$(uname -s)" = Linux ] && [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    "$venv/bin/python" -P -m refbrowser --screenshot refbrowser.png "$1" || exit
    say "there is no display: the window is drawn in refbrowser.png"
    exit 0
fi
exec "$venv/bin/python" -P -m refbrowser "$@"
