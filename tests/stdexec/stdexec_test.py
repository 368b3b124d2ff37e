# SPDX-License-Identifier: Apache-2.0
"""A user's program for stdexec runs on the workers of an installed Sukima, with a checkout of stdexec that the machine may have.

stdexec_test.py --checkout FOLDER --compiler PROGRAM --cmake PROGRAM --build FOLDER

FOLDER is a checkout of https://github.com/NVIDIA/stdexec; without the option the variable SUKIMA_STDEXEC names it. Exit
code: 77 without a checkout.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", type=pathlib.Path, default=os.environ.get("SUKIMA_STDEXEC", ""))
    parser.add_argument("--compiler", required=True)
    for option in ("cmake", "build"):
        parser.add_argument(f"--{option}", required=True)
    chosen = parser.parse_args()
    if not (pathlib.Path(chosen.checkout) / "include" / "stdexec" / "execution.hpp").is_file():
        print(f"skipped: there is no checkout of stdexec in '{chosen.checkout}'; set SUKIMA_STDEXEC")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        program, prefix = pathlib.Path(folder, "program"), pathlib.Path(folder, "prefix")
        for component in ("runtime", "devel"):
            subprocess.run([chosen.cmake, "--install", chosen.build, "--component", component, "--prefix", prefix], check=True,
                           stdout=subprocess.DEVNULL)
        packages = next(prefix.rglob("sukima.pc")).parent
        environment = {**os.environ, "PKG_CONFIG_PATH": str(packages), "LD_LIBRARY_PATH": str(packages.parent)}
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "sukima"], check=True, capture_output=True, text=True,
                               env=environment).stdout.split()
        # The headers of stdexec are system headers: our own must compile without warnings.
        command = [chosen.compiler, "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", HERE / "program.cpp", "-o", program,
                   "-isystem", f"{chosen.checkout}/include", *flags]
        if subprocess.run(command, check=False).returncode != 0:
            return 1
        for workers in ("1", "2", "4"):
            done = subprocess.run([program], capture_output=True, text=True, check=False,
                                  timeout=300,
                                  env={**environment, "SUKIMA_WORKERS": workers, "SUKIMA_ELASTIC": "off"})
            if (done.returncode, done.stdout) != (0, "passed\n"):
                print(f"with {workers} workers: exit code {done.returncode}: {done.stdout}{done.stderr}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
