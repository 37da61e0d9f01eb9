# Sourced by run.sh and test.sh: makes the virtual environment in the checkout and installs what Qt needs.
# Everything is done once; a stamp makes the next start skip it.

say() { printf 'refbrowser: %s\n' "$*" >&2; }
# A step of something longer: in a terminal the next one takes its place, in a log each has its line.
step() { if [ -t 2 ]; then printf '\r\033[Krefbrowser: %s' "$*" >&2; else say "  $*"; fi; }
stop() { say "$*"; exit 1; }

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
venv=$root/.venv

find_python() {
    for name in python3.14 python3.13 python3.12 python3.11 python3 python; do
        if command -v "$name" >/dev/null 2>&1 &&
            "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
    stop "Python 3.11 or later is needed and was not found on PATH"
}

# Runs a command as root: as we are, or with sudo when it asks for no password (or there is someone to ask).
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
        sudo "$@"
    else
        return 1
    fi
}

# Installs packages through the distribution's package manager; the arguments are the names under
# apt, dnf, zypper and pacman, each one a list.
install_packages() {
    if command -v apt-get >/dev/null 2>&1; then
        names=$1
        set -- env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends
        as_root apt-get update -qq >/dev/null 2>&1
    elif command -v dnf >/dev/null 2>&1; then
        names=$2
        set -- dnf install -y -q
    elif command -v zypper >/dev/null 2>&1; then
        names=$3
        set -- zypper --non-interactive --quiet install
    elif command -v pacman >/dev/null 2>&1; then
        names=$4
        set -- pacman -S --noconfirm --needed --quiet
    else
        return 1
    fi
    # shellcheck disable=SC2086  # a list of names
    as_root "$@" $names >/dev/null 2>&1
}

make_venv() {
    [ -x "$venv/bin/python" ] && "$venv/bin/python" -c 'import pip' 2>/dev/null && return
    python=$(find_python) || exit 1
    say "making a virtual environment with $python"
    rm -rf "$venv"
    "$python" -m venv "$venv" >/dev/null 2>&1 && return
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    rm -rf "$venv"
    install_packages "python$version-venv" python3-pip python3-pip python
    "$python" -m venv "$venv" ||
        stop "$python cannot make a virtual environment; install its venv module (Debian: python$version-venv)"
}

# Names the shared libraries that Qt's window plugins ask for and the machine lacks.
missing_libraries() {
    qt=$("$venv/bin/python" -c 'import importlib.util as u; print(u.find_spec("PySide6").submodule_search_locations[0])')
    for file in "$qt"/Qt/lib/libQt6Gui.so.6 "$qt"/Qt/lib/libQt6Widgets.so.6 "$qt"/Qt/lib/libQt6Svg.so.6 \
        "$qt"/Qt/plugins/platforms/libqxcb.so "$qt"/Qt/plugins/platforms/libqoffscreen.so; do
        [ -e "$file" ] && ldd "$file" 2>/dev/null
    done | sed -n 's/^[[:space:]]*\(.*\) => not found.*/\1/p' | sort -u | tr '\n' ' '
}

check_libraries() {
    [ "$(uname -s)" = Linux ] && command -v ldd >/dev/null 2>&1 || return 0
    missing=$(missing_libraries)
    [ -n "$missing" ] || return 0
    say "installing system libraries for Qt: $missing"
    install_packages \
        "libegl1 libgl1 libglib2.0-0 libdbus-1-3 libfontconfig1 libxkbcommon0 libxkbcommon-x11-0 libxcb-cursor0 \
        libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xinerama0 \
        libxcb-xkb1 libx11-xcb1 fonts-dejavu-core" \
        "mesa-libEGL mesa-libGL glib2 dbus-libs fontconfig libxkbcommon libxkbcommon-x11 xcb-util-cursor xcb-util-wm \
        xcb-util-image xcb-util-keysyms xcb-util-renderutil libxcb libX11-xcb dejavu-sans-fonts" \
        "Mesa-libEGL1 Mesa-libGL1 libglib-2_0-0 libdbus-1-3 libfontconfig1 libxkbcommon0 libxkbcommon-x11-0 \
        libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 \
        libxcb-xinerama0 libxcb-xkb1 libX11-xcb1 dejavu-fonts" \
        "libglvnd mesa glib2 dbus fontconfig libxkbcommon libxkbcommon-x11 xcb-util-cursor xcb-util-wm xcb-util-image \
        xcb-util-keysyms xcb-util-renderutil libxcb libx11 ttf-dejavu"
    missing=$(missing_libraries)
    [ -z "$missing" ] ||
        stop "these system libraries are missing; install them with the package manager, then start again: $missing"
}

# tell_pip STATUS_FILE: tells what pip does from what it prints; ends with the status that the file is given.
tell_pip() {
    while IFS= read -r line; do
        case $line in
        *"Installing build dependencies: started"*) step "fetching what the build needs" ;;
        *"Downloading "*.metadata* | *"Using cached "*.metadata*) ;;
        *"Downloading "* | *"Using cached "* | "Processing "*)
            step "$(printf '%s\n' "$line" |
                sed -E 's/^ *(Downloading|Using cached|Processing) //; s/ \(from .*//
                    s#^[^ ]*/##; s/^([^- ]+)-([^- ]+)(-[^ ]*|\.tar\.gz)/\1 \2/; s/^/fetching /')"
            ;;
        "Installing collected packages: "*)
            packages=${line#*: }
            step "installing $(printf '%s\n' "$packages" | tr ',' '\n' | wc -l | tr -d ' ') packages;" \
                "this can take a minute"
            ;;
        esac
    done
    [ ! -t 2 ] || printf '\r\033[K' >&2
    return "$(cat "$1")"
}

# pip_install ARGUMENTS...: pip's installation with its steps told; its complaints are shown where it fails.
pip_install() {
    log=$(mktemp -d) || stop "no temporary folder can be made"
    {
        "$venv/bin/python" -m pip install --disable-pip-version-check --progress-bar off "$@" 2>"$log/complaints"
        echo $? >"$log/status"
    } | tell_pip "$log/status"
    status=$?
    [ "$status" = 0 ] || cat "$log/complaints" >&2
    rm -rf "$log"
    return "$status"
}

# extras_of NAME: what is installed with the project to run it, to test it, or to make its site.
extras_of() { case $1 in run) echo gui,parquet,hdf5,maps ;; *) echo "$1" ;; esac; }

# install NAME: the project and what it needs, as new as there is; with REFBROWSER_LOCKED=1 just what
# packaging/locked-NAME.txt lists, each file checked by its hash.
install() {
    if [ -z "${REFBROWSER_LOCKED:-}" ]; then
        pip_install --no-compile --editable "$root[$(extras_of "$1")]"
        return
    fi
    pip_install --no-compile --require-hashes --requirement "$root/packaging/locked-$1.txt" &&
        pip_install --no-compile --no-deps --no-build-isolation --editable "$root"
}

# prepare NAME: installs the project with its extras unless the stamp says that it was done.
prepare() {
    stamp=$venv/installed-$1
    state="$(cksum <"$root/pyproject.toml") $(cksum <"$root/packaging/environment.sh")"
    [ -z "${REFBROWSER_LOCKED:-}" ] || state="$state locked $(cksum <"$root/packaging/locked-$1.txt")"
    if [ -x "$venv/bin/python" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$state" ]; then
        return
    fi
    make_venv
    say "installing refbrowser and what it needs (once; a minute or two)"
    install "$1" ||
        stop "the installation failed; the lines above say why"
    # pip compiles what it installs on one core, and no checkout; and not every machine lets Python keep what it
    # compiled: a third of the time from the window to a document's first rows. A file that fails is told when it
    # is used; packages have some that are not for this Python.
    say "compiling refbrowser and what it needs"
    "$venv/bin/python" -m compileall -qq -j 0 "$venv"/lib/python*/site-packages >/dev/null 2>&1 || :
    "$venv/bin/python" -m compileall -q "$root/refbrowser" || say "some modules could not be compiled"
    check_libraries
    printf '%s\n' "$state" >"$stamp"
    say "done"
}
