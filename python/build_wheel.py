#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs the wheel `sukima`: this folder's Python files around the program and the C library of a build.

build_wheel.py --cmake PROGRAM --build FOLDER --libdir NAME --version VERSION --output FOLDER

A wheel is a zip file with a list of its files, so no build tool is needed. `make wheel` calls this script.
"""
import argparse
import base64
import hashlib
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent

METADATA = """\
Metadata-Version: 2.1
Name: sukima
Version: {version}
Summary: How many CPUs can this process really use, and why? And thread pools that fit.
License: Apache-2.0
Keywords: cpu,cgroup,container,quota,threads,openmp,numpy,joblib
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Requires-Python: >=3.9
Provides-Extra: pools
Requires-Dist: threadpoolctl>=3.0; extra == "pools"
Description-Content-Type: text/markdown

"""
WHEEL = """\
Wheel-Version: 1.0
Generator: sukima
Root-Is-Purelib: false
Tag: py3-none-{platform}
"""
ENTRY_POINTS = """\
[console_scripts]
sukima = sukima._program:main
"""


def fail(message):
    sys.exit(f"build_wheel.py: {message}")


def install(cmake, build, tree):
    """Installs what the wheel needs of a build: the program, its libraries, and Sukima's shared libraries."""
    for component in ("runtime", "tools", "bundle"):
        command = [cmake, "--install", str(build), "--strip", "--prefix", str(tree), "--component", component]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            fail(f"cmake --install of '{build}' failed: {done.stderr}")


def native_files(tree, libdir):
    """Path inside the wheel's folder `native`, and file."""
    libraries = tree / libdir
    program = tree / "bin" / "sukima"
    calibrate = tree / "libexec" / "sukima" / "sukima-calibrate"
    capacity = next(libraries.glob("libsukima-capacity.so.*"), None)
    if not program.is_file() or capacity is None:
        fail(f"'{tree}' has no program sukima or no libsukima-capacity.so; build it with: make wheel")
    yield "bin/sukima", program
    yield "libexec/sukima/sukima-calibrate", calibrate
    yield "lib/libsukima-capacity.so", capacity
    for library in sorted((libraries / "sukima").glob("*.so*")):
        yield f"lib/sukima/{library.name}", library
    for license_file in sorted((tree / "share" / "doc" / "sukima" / "licenses").glob("*")):
        yield f"licenses/{license_file.name}", license_file


def newest_glibc(files):
    """The newest version of glibc's symbols that these programs and libraries use."""
    newest = (2, 17)
    for file in files:
        symbols = subprocess.run(["objdump", "-T", str(file)], capture_output=True, text=True, check=True).stdout
        for version in re.findall(r"GLIBC_(\d+)\.(\d+)", symbols):
            newest = max(newest, tuple(map(int, version)))
    return newest


class Wheel:
    """The zip file, and the list of its files with their hashes. The same input gives the same bytes."""

    def __init__(self, path):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name, content, mode=0o644):
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}")

    def close(self, record_name):
        self.record.append(f"{record_name},,")
        self.archive.writestr(zipfile.ZipInfo(record_name, (1980, 1, 1, 0, 0, 0)), "\n".join(self.record) + "\n")
        self.archive.close()


def pack(options, natives):
    """Writes the wheel; its path."""
    major, minor = newest_glibc([file for name, file in natives if name.startswith(("bin/", "lib/", "libexec/"))])
    tag = f"manylinux_{major}_{minor}_{platform.machine()}"
    options.output.mkdir(parents=True, exist_ok=True)
    for old in options.output.glob("sukima-*.whl"):
        old.unlink()
    path = options.output / f"sukima-{options.version}-py3-none-{tag}.whl"
    info = f"sukima-{options.version}.dist-info"

    wheel = Wheel(path)
    for file in sorted((HERE / "sukima").glob("*")):
        if file.suffix == ".py" or file.name == "py.typed":
            wheel.add(f"sukima/{file.name}", file.read_bytes())
    version = f'"""The version of this package."""\n__version__ = "{options.version}"\n'
    wheel.add("sukima/_version.py", version.encode())
    for name, file in natives:
        wheel.add(f"sukima/native/{name}", file.read_bytes(), 0o755 if name.startswith(("bin/", "libexec/")) else 0o644)
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    wheel.add(f"{info}/METADATA", (METADATA.format(version=options.version) + readme).encode())
    wheel.add(f"{info}/WHEEL", WHEEL.format(platform=tag).encode())
    wheel.add(f"{info}/entry_points.txt", ENTRY_POINTS.encode())
    wheel.add(f"{info}/LICENSE", (HERE.parent / "LICENSE").read_bytes())
    wheel.close(f"{info}/RECORD")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--libdir", required=True, help="the folder of libraries in an installed tree")
    parser.add_argument("--version", required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        install(options.cmake, options.build, tree)
        pack(options, list(native_files(tree, options.libdir)))


if __name__ == "__main__":
    main()
