#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""valgrind_test.py PROGRAM: valgrind has no complaint about a program whose threads switch between fibers."""
import subprocess
import sys


def main():
    command = ["valgrind", "--quiet", "--error-exitcode=9", sys.argv[1]]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        print("valgrind is not installed; run scripts/install-dependencies.sh")
        return 1
    if done.returncode == 0 and not done.stderr:
        return 0
    print(f"status {done.returncode}\n{done.stderr[:8000]}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
