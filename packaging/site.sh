#!/bin/sh
# Makes the site: the manual, the reference of verbs and functions, results of conformance:
# sh packaging/site.sh [--conformance] [--links] [FOLDER]
# The site is written to FOLDER, or build/site; a browser opens its index.html without a server. With
# --conformance the tests against other software are run first, which takes minutes; without it the page says what
# they found last. With --links the addresses of other sites are asked for, too.
set -eu
. "$(dirname -- "$0")/environment.sh"

conformance='' links=''
while [ $# -gt 0 ]; do
    case $1 in
    --conformance) conformance=1 ;;
    --links) links=1 ;;
    -*) stop "unknown option: $1" ;;
    *) break ;;
    esac
    shift
done
target=${1:-$root/build/site}
build=$root/build
mkdir -p "$build"

prepare site
[ -z "$conformance" ] || {
    prepare test
    "$venv/bin/python" "$root/packaging/site/conformance.py" "$build/conformance.json"
}
pages=$(mktemp -d) || stop "no temporary folder can be made"
trap 'rm -rf "$pages"' EXIT
export QT_QPA_PLATFORM=offscreen
"$venv/bin/python" "$root/packaging/site/pages.py" "$pages" "$build/conformance.json"
# A warning is an error: a link that leads nowhere, a name that is not documented.
"$venv/bin/python" -m sphinx -q -W --keep-going -c "$root/packaging/site" "$pages" "$target"
[ -z "$links" ] || "$venv/bin/python" -m sphinx -q -b linkcheck -c "$root/packaging/site" "$pages" "$build/links"
say "written: $target/index.html"
