#!/bin/sh
# Shows the window in a browser: refbrowser-hub [PORT [PATH...]]
# It needs no root and writes below HOME (or /tmp) alone; the window is opened again when it was closed.
set -eu

port=${1:-6080}
[ $# -eq 0 ] || shift
# Hubs give users numbers that no machine knows.
[ -w "${HOME:-/}" ] || export HOME=/tmp
work=$(mktemp -d)
running=
stop() {
    # shellcheck disable=SC2086  # a list of numbers
    kill $running 2>/dev/null || :
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 143' INT TERM

# The server chooses a free display, and says which once it is ready. It takes who can reach the socket, which is this
# user alone; the browser comes by websockify.
Xvnc -displayfd 3 -geometry "${REFBROWSER_SCREEN:-1600x1000}" -depth 24 -nolisten tcp -SecurityTypes None -AlwaysShared \
    -rfbport -1 -rfbunixpath "$work/vnc" -rfbunixmode 0600 3>"$work/display" 2>"$work/x.log" &
running=$!
waited=0
until [ -s "$work/display" ]; do
    waited=$((waited + 1))
    [ "$waited" -lt 100 ] || { cat "$work/x.log" >&2; exit 1; }
    sleep 0.1
done
DISPLAY=:$(cat "$work/display")
export DISPLAY

openbox >"$work/openbox.log" 2>&1 &
running="$running $!"
mkdir "$work/web"
ln -s /usr/share/novnc/* "$work/web/"
cat >"$work/web/index.html" <<'END'
<!doctype html>
<meta charset="utf-8">
<title>refbrowser</title>
<script>
// A hub has it below a path of its own, which the connection needs as well.
const path = location.pathname.replace(/[^/]*$/, "").slice(1) + "websockify";
location.replace("vnc.html?autoconnect=1&resize=scale&path=" + encodeURIComponent(path));
</script>
END
websockify --web "$work/web" --unix-target "$work/vnc" "$port" >"$work/web.log" 2>&1 &
running="$running $!"

while :; do
    began=$(date +%s)
    refbrowser --size 1500x900 "$@" || :
    # One that cannot start is not tried for ever.
    [ "$(($(date +%s) - began))" -ge 2 ] || exit 1
done
