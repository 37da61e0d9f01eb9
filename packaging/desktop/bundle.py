"""Make the self-contained folder: refbrowser with a Python of its own, for machines that have none.

``python packaging/desktop/bundle.py --wheel FILE --out FOLDER`` makes the folder
`refbrowser-VERSION-SYSTEM-MACHINE` in one, which runs from wherever it is put. Linux, macOS and Windows are
done the same way, each on its own machine.

What is installed has the versions and hashes of `locked-test.txt`. The Python is the one in the folder that
``--python`` names; without it one that uv brings, which is made to be moved, or else the one that runs this.
"""

from __future__ import annotations

import argparse
import base64
import csv
import filecmp
import hashlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import materials

CHECKOUT = Path(__file__).resolve().parents[2]
#: The Python that uv is asked for.
PYTHON = "3.13"
#: What the folder can do: all but what is for programs that import refbrowser.
EXTRAS = (
    *("awkward", "calendars", "cloud", "fits", "grib", "gui", "hdf4", "hdf5", "icechunk", "maps", "ncstream"),
    *("netcdf", "parquet", "tiff", "units"),
)
#: Parts of Python's own library that nothing in the folder imports; `site-packages` is filled anew.
UNUSED_LIBRARY = (
    *("ensurepip", "idlelib", "lib2to3", "pydoc_data", "site-packages", "test", "tkinter", "turtledemo"),
    # The line editor is under the GPL; nothing here is a prompt.
    *("lib-dynload/readline*", "lib-dynload/_curses*"),
    *("config-*", "lib-dynload/_tkinter*", "lib-dynload/*test*", "lib-dynload/xx*"),
)
#: What is taken out of installed packages, as patterns below `site-packages`.
UNUSED_PACKAGES = (
    *("pip", "pip-*.dist-info", "*/__pycache__", "bin", "share"),
    *(
        "pyarrow/include",
        "pyarrow/src",
        "pyarrow/tests",
        "pyarrow/*flight*",
        "pyarrow/*substrait*",
        "pyarrow/*s3*",
    ),
    *("numpy/**/*.a", "numpy/_core/include", "numpy/f2py", "*/**/*.pxd", "*/**/*.pyx", "PySide6/**/*.pyi"),
    *(
        "PySide6/include",
        "PySide6/typesystems",
        "PySide6/glue",
        "PySide6/doc",
        "PySide6/scripts",
        "PySide6/support",
    ),
    *("PySide6/Qt/qml", "PySide6/qml", "PySide6/Qt/metatypes", "PySide6/metatypes", "PySide6/Qt/libexec"),
    *("PySide6/Qt/translations", "PySide6/translations", "PySide6/QtAsyncio", "shiboken6/include"),
)
#: Services of Amazon's that have buckets, or say who may read them.
BUCKET_SERVICES = ("s3", "sts", "sso", "sso-oidc", "signin")
#: Libraries with tables for debuggers, below the folder. Those that auditwheel changed must stay as they are.
SYMBOLS = (
    *("lib/libpython3.*", "lib/python3.*/lib-dynload/*.so"),
    *("lib/python3.*/site-packages/hdf5plugin/plugins/*.so", "lib/python3.*/site-packages/zstandard/*.so"),
)
#: Folders of tests that their packages import.
NEEDED_TESTS = ("astropy/tests", "numpy/testing/tests")
#: The modules of Qt that the program imports, and pyqtgraph for it.
QT = (
    "Core",
    "DBus",
    "Gui",
    "OpenGL",
    "OpenGLWidgets",
    "PrintSupport",
    "Svg",
    "SvgWidgets",
    "Test",
    "Widgets",
)
#: Libraries of Qt that its plugins for windows, themes and pictures load.
QT_HELPERS = ("EglFSDeviceIntegration", "EglFsKmsSupport", "WaylandClient", "WlShellIntegration", "XcbQpa")
#: Programs for those who write programs.
QT_PROGRAMS = ("assistant", "designer", "linguist", "lrelease", "lupdate", "qmlformat", "qmllint")
#: Plugins of Qt by their folder; others are for modules that are not there.
QT_PLUGINS = (
    *(
        "egldeviceintegrations",
        "generic",
        "iconengines",
        "imageformats",
        "platforminputcontexts",
        "platforms",
    ),
    *("platformthemes", "printsupport", "styles", "wayland-*", "xcbglintegrations"),
)
#: Libraries that every desktop has and that must fit it, such as drivers, X and the C library: left out.
SYSTEM_LIBRARIES = re.compile(
    r"(ld-linux.*|lib(anl|c|dl|m|pthread|resolv|rt|util|gcc_s|stdc\+\+)|lib(EGL|GL|GLX|GLdispatch|OpenGL|drm|gbm)"
    r"|lib(X11|X11-xcb|Xau|Xdmcp|Xext|Xrender|ICE|SM|xcb)|libwayland-\w+|lib(fontconfig|freetype|expat)"
    r"|lib(glib|gthread|gio|gobject|gmodule)-2\.0|lib(gtk|gdk)-3|lib(atk|pango|cairo|gdk_pixbuf|harfbuzz).*"
    r"|lib(dbus-1|systemd|udev|cups|input|mtdev|tslib.*)|linux-vdso)(-\d+)?\.so.*"
)
LAUNCHER = """\
#!/bin/sh
# Starts refbrowser with the Python beside it, whatever Python the machine has.
here=$(dirname -- "$(readlink -f -- "$0")")
[ "${1-}" != --add-to-desktop ] || { shift; exec "$here/add-to-desktop" "$@"; }
unset PYTHONHOME PYTHONPATH PYTHONSTARTUP PYTHONPLATLIBDIR
export PYTHONNOUSERSITE=1 REFBROWSER_BUNDLE="$here"
exec "$here/bin/python3" -P -m refbrowser "$@"
"""


def say(words: str) -> None:
    """Say on standard error which step is done."""
    sys.stderr.write(f"refbrowser: {words}\n")


def run(*command: str | Path, **options: object) -> str:
    """Run a program; return what it prints."""
    done = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, text=True, check=True, **options)
    return done.stdout


# The folder's Python


class Interpreter:
    """The Python in a folder, laid out as its system wants it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if sys.platform == "win32":
            self.program = folder / "python.exe"
            self.library = folder / "Lib"
        else:
            (self.library,) = (each for each in (folder / "lib").glob("python3.*") if each.is_dir())
            self.program = folder / "bin" / self.library.name

    @property
    def packages(self) -> Path:
        """Where packages are installed."""
        return self.library / "site-packages"


def find_python(named: Path | None, work: Path) -> Path:
    """Return the folder of the Python that is copied."""
    if named is not None:
        return named.resolve()
    if shutil.which("uv"):
        done = subprocess.run(["uv", "python", "install", PYTHON, "--install-dir", str(work)], check=False)
        if done.returncode == 0:
            return next(each for each in work.glob("cpython-*") if not each.is_symlink()).resolve()
        say("uv could not bring a Python; the one that runs this is taken")
    return Path(sys.base_prefix).resolve()


def copy_python(source: Path, target: Path) -> Interpreter:
    """Copy what runs programs: no headers, no tests, no packages."""
    target.mkdir(parents=True)
    if sys.platform == "win32":
        skipped = shutil.ignore_patterns("include", "libs", "Scripts", "tcl", "Doc", "Tools", "share")
        shutil.copytree(source, target, ignore=skipped, dirs_exist_ok=True)
    else:
        old = Interpreter(source)
        (target / "bin").mkdir()
        shutil.copytree(old.library, target / "lib" / old.library.name, symlinks=True)
        shutil.copy2(old.program.resolve(), target / "bin" / old.library.name)
        (target / "bin" / "python3").symlink_to(old.library.name)
        for shared in (source / "lib").glob("libpython3.*"):
            if shared.suffix != ".a" and not shared.is_symlink():
                shutil.copy2(shared, target / "lib")
    interpreter = Interpreter(target)
    remove(interpreter.library, (*UNUSED_LIBRARY, "**/__pycache__"))
    interpreter.packages.mkdir()
    return interpreter


def remove(folder: Path, patterns: Iterable[str]) -> None:
    """Remove what patterns name below a folder."""
    for pattern in patterns:
        for path in [*folder.glob(pattern)]:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


# What is installed


def install(interpreter: Interpreter, wheel: Path) -> None:
    """Install the wheel with its extras: each other file by the hash that is locked."""
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    wanted = f"refbrowser[{','.join(EXTRAS)}] @ {wheel.resolve().as_uri()} --hash=sha256:{digest}\n"
    with tempfile.TemporaryDirectory() as folder:
        requirements = Path(folder) / "requirements.txt"
        requirements.write_text(wanted, "utf-8")
        run(
            *(sys.executable, "-m", "pip", "--python", interpreter.program, "install", "--quiet"),
            *("--disable-pip-version-check", "--no-compile", "--no-warn-script-location", "--no-user"),
            *("--require-hashes", "--only-binary", ":all:", "--ignore-installed"),
            *("--constraint", CHECKOUT / "packaging" / "locked-test.txt", "--requirement", requirements),
        )


def prune(interpreter: Interpreter) -> None:
    """Take out what nothing imports: tests, headers, modules of Qt."""
    packages = interpreter.packages
    remove(packages, UNUSED_PACKAGES)
    for folder in [*packages.glob("**/tests")]:
        if folder.is_dir() and not folder.relative_to(packages).as_posix().startswith(NEEDED_TESTS):
            shutil.rmtree(folder)
    qt = packages / "PySide6"
    for path in [*qt.glob("Qt*")]:
        if (match := re.fullmatch(r"Qt(\w+)(\.abi3\.so|\.pyd)", path.name)) and match[1] not in QT:
            path.unlink()
    for folder in (qt, qt / "Qt" / "lib"):
        for path in [*folder.glob("*Qt6*")]:
            match = re.fullmatch(r"(?:lib)?Qt6(\w+?)(\.so\..*|\.dll|\.dylib)", path.name)
            if match and match[1] not in (*QT, *QT_HELPERS):
                path.unlink()
    remove(qt, (*QT_PROGRAMS, "*.exe", "*.app"))
    for plugins in (qt / "Qt" / "plugins", qt / "plugins"):
        for folder in plugins.glob("*"):
            if not any(folder.match(pattern) for pattern in QT_PLUGINS):
                shutil.rmtree(folder)
    for service in packages.glob("botocore/data/*/"):
        if service.is_dir() and service.name not in BUCKET_SERVICES:
            shutil.rmtree(service)
    # Scripts name the place where they were made; what the folder starts is its launcher alone.
    if sys.platform != "win32":
        for script in interpreter.program.parent.iterdir():
            if not script.name.startswith("python3"):
                script.unlink()


def is_library(path: Path) -> bool:
    """Whether a file is a program or shared library of Linux."""
    if path.is_symlink() or not path.is_file() or (".so" not in path.name and path.parent.name != "bin"):
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def needed(library: Path) -> Iterator[tuple[str, Path]]:
    """Yield the names of the libraries that one asks for itself, and where this machine has them."""
    printed = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=False).stdout
    places = {name: Path(place) for name, place in re.findall(r"^\s*(\S+) => (/\S+)", printed, re.MULTILINE)}
    # What is found for a library of the system alone is the system's as well.
    for name in run("patchelf", "--print-needed", library).splitlines():
        if name in places:
            yield name, places[name]


def take_libraries(interpreter: Interpreter) -> None:
    """Copy the libraries of this machine that others may lack, and have them found beside the program."""
    folder, beside = interpreter.folder, interpreter.folder / "lib"
    waiting = [each for each in sorted(folder.rglob("*")) if is_library(each)]
    while waiting:
        library = waiting.pop()
        for name, place in needed(library):
            if place.resolve().is_relative_to(folder) or SYSTEM_LIBRARIES.fullmatch(name):
                continue
            if not (beside / name).exists():
                shutil.copy2(place.resolve(), beside / name)
                (beside / name).chmod(0o755)
                waiting.append(beside / name)
            up = "/".join([".."] * (len(library.relative_to(folder).parts) - 1))
            own = "$ORIGIN" if library.parent == beside else f"$ORIGIN/{up}/lib"
            if own not in (run("patchelf", "--print-rpath", library).strip().split(":")):
                run("patchelf", "--add-rpath", own, library)


def slim(interpreter: Interpreter) -> None:
    """Take what only debuggers read out of libraries, and keep copies of one beside each other once."""
    if shutil.which("strip"):
        for pattern in SYMBOLS:
            for library in interpreter.folder.glob(pattern):
                run("strip", "--strip-debug", "--discard-all", library)
    for library in sorted(interpreter.packages.glob("*/*.so.*")):
        # A wheel has no links: it holds a library once for each of its names.
        shorter = library.with_name(library.name.rpartition(".")[0])
        while ".so" in shorter.name:
            if (
                shorter.is_file()
                and not shorter.is_symlink()
                and filecmp.cmp(shorter, library, shallow=False)
            ):
                shorter.unlink()
                shorter.symlink_to(library.name)
            shorter = shorter.with_name(shorter.name.rpartition(".")[0])


# What the folder is beside its Python


def write_launcher(interpreter: Interpreter) -> None:
    """Write what users start: a script, or a program that starts the Python beside it."""
    if sys.platform != "win32":
        launcher = interpreter.folder / "refbrowser"
        launcher.write_text(LAUNCHER, "utf-8")
        launcher.chmod(0o755)
        return
    import windows_launchers

    windows_launchers.write(interpreter.folder)


def compile_all(interpreter: Interpreter) -> None:
    """Compile every module; what is compiled is taken as it is, whatever dates the files get."""
    command = [
        interpreter.program,
        "-P",
        "-m",
        "compileall",
        "-q",
        "-j",
        "0",
        "-x",
        r"[\\/](templates?|data)[\\/]",
    ]
    subprocess.run(
        [*map(str, command), "--invalidation-mode", "unchecked-hash", str(interpreter.library)], check=False
    )


def forget_records(interpreter: Interpreter) -> None:
    """Write the lists of installed files anew: of what is there."""
    for record in interpreter.packages.glob("*.dist-info/RECORD"):
        with record.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.reader(file) if (interpreter.packages / row[0]).is_file()]
        with record.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(
                row if row[1:] == ["", ""] else [row[0], *digest_and_size(interpreter.packages / row[0])]
                for row in rows
            )


def digest_and_size(path: Path) -> tuple[str, str]:
    """Return the digest of a file and its size as lists of installed files have them."""
    content = path.read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"sha256={digest}", str(len(content))


def name_of(wheel: Path) -> str:
    """Return the name of the folder that a wheel becomes on this machine."""
    version = wheel.name.split("-")[1]
    system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform)
    return f"refbrowser-{version}-{system}-{platform.machine().lower()}"


def make(wheel: Path, out: Path, python: Path | None) -> Path:
    """Make the folder of a wheel; return where it is."""
    target = (out / name_of(wheel)).resolve()
    if target.exists():
        shutil.rmtree(target)
    with tempfile.TemporaryDirectory() as work:
        source = find_python(python, Path(work))
        say(f"copying {source}")
        interpreter = copy_python(source, target)
    if sys.platform.startswith("linux"):
        # It finds its own library wherever the folder is put.
        run("patchelf", "--set-rpath", "$ORIGIN/../lib", interpreter.program)
    say(f"installing {wheel.name} with {', '.join(EXTRAS)}")
    install(interpreter, wheel)
    prune(interpreter)
    if sys.platform.startswith("linux"):
        slim(interpreter)
        say("taking libraries along that others may lack")
        take_libraries(interpreter)
    forget_records(interpreter)
    say("compiling")
    compile_all(interpreter)
    write_launcher(interpreter)
    # What packages bring for the folder `share` of a system is not for this one.
    remove(target, ("share", "etc", "Scripts"))
    on_linux = sys.platform.startswith("linux")
    if on_linux:
        shutil.copy2(CHECKOUT / "packaging" / "desktop" / "add-to-desktop", target)
        # Run by the Python that has Qt.
        run(
            interpreter.program,
            "-B",
            "-P",
            CHECKOUT / "packaging" / "desktop" / "desktop_files.py",
            target / "share",
        )
    for name in ("LICENSE", "LICENSES.md"):
        shutil.copy2(CHECKOUT / name, target)
    version = run(
        interpreter.program, "-P", "-c", "import platform; print(platform.python_version())"
    ).strip()
    materials.write(interpreter.packages, target, interpreter.folder / "lib" if on_linux else None, version)
    return target


def main(arguments: list[str]) -> int:
    """Make the folder that the arguments ask for; return the exit code."""
    parser = argparse.ArgumentParser(description="Make the self-contained folder of refbrowser.")
    parser.add_argument("--wheel", type=Path, required=True, help="the wheel that is installed in it")
    parser.add_argument("--out", type=Path, default=CHECKOUT / "dist", help="where the folder is made")
    parser.add_argument("--python", type=Path, help="folder of the Python that is copied")
    asked = parser.parse_args(arguments)
    target = make(asked.wheel, asked.out, asked.python)
    say(f"written: {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
