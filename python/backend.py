# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel and the source archive for pip, without other build tools: the backend that pyproject.toml names.

pip calls these functions in the folder of the sources. The wheel is the one of `make wheel`, so cmake, ninja, g++ and the
libraries of scripts/packages.txt must be installed.
"""
import io
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = {"build", ".git", ".cache", "__pycache__", "target", "node_modules", "dist"}


def version():
    """The version of the sources."""
    text = (SOURCE / "include" / "sukima" / "version.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"^#define SUKIMA_VERSION_{part} (\d+)$", text, re.MULTILINE)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


def _run(*command):
    if not shutil.which(command[0]):
        sys.exit(f"sukima: {command[0]} is not installed; run scripts/install-dependencies.sh wheel")
    # pip shows what goes to standard output; a failure of cmake explains itself.
    if subprocess.run(command, cwd=SOURCE, check=False).returncode != 0:
        sys.exit(f"sukima: '{' '.join(command)}' failed; scripts/install-dependencies.sh wheel installs what it needs")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517: builds the wheel in that folder. \\returns its name"""
    del config_settings, metadata_directory
    _run("cmake", "--preset", "wheel")
    _run("cmake", "--build", "--preset", "wheel")
    wheel, = (SOURCE / "build" / "wheel" / "packages").glob(f"sukima-{version()}-*.whl")
    shutil.copy(wheel, wheel_directory)
    return wheel.name


def _files():
    """The files of the checkout or, in an unpacked archive, all that were not built."""
    if (SOURCE / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=SOURCE, capture_output=True, check=True).stdout
        names = listed.decode().split("\0")
    else:
        names = [path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*")]
    for name in sorted(names):
        path = SOURCE / name
        if name and not SKIPPED & set(pathlib.PurePath(name).parts) and name != "PKG-INFO" and path.is_file():
            yield name, path


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517: packs the sources; the same sources give the same names and contents. \\returns the archive's name"""
    del config_settings
    name = f"sukima-{version()}"
    information = f"Metadata-Version: 2.1\nName: sukima\nVersion: {version()}\n".encode()
    with tarfile.open(pathlib.Path(sdist_directory, f"{name}.tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for file, path in _files():
            archive.add(path, f"{name}/{file}", recursive=False, filter=_without_owner)
        entry = tarfile.TarInfo(f"{name}/PKG-INFO")
        entry.size = len(information)
        archive.addfile(entry, io.BytesIO(information))
    return f"{name}.tar.gz"


def _without_owner(entry):
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry
