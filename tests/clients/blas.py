# SPDX-License-Identifier: Apache-2.0
"""A numpy program for the tests of `sukima run`: how many threads does its OpenBLAS have? Ends with 77 without one.

With a number it multiplies matrices so many times, for lab/scripts/run-table.py.
"""
import ctypes
import os
import sys

try:
    import numpy
except ImportError:
    print("numpy is not installed")
    sys.exit(77)

with open("/proc/self/maps", encoding="utf-8") as maps:
    libraries = {line.split()[-1] for line in maps if "openblas" in line.lower()}
if not libraries:
    print("numpy is not linked with OpenBLAS")
    sys.exit(77)
if len(sys.argv) > 1:
    matrix = numpy.random.default_rng(1).random((700, 700))
    for _ in range(int(sys.argv[1])):
        matrix @ matrix
    sys.exit(0)
size = 400
matrix = numpy.ones((size, size))
product = matrix @ matrix
blas = ctypes.CDLL(sorted(libraries)[0])
for name in ("openblas_get_num_threads", "openblas_get_num_threads64_", "scipy_openblas_get_num_threads64_"):
    if hasattr(blas, name):
        print("threads", getattr(blas, name)())
print("running", len(os.listdir("/proc/self/task")))
print("result", int(product.sum()))
