# SPDX-License-Identifier: Apache-2.0
"""Says how many CPUs this process can use, and why, and fits thread pools to that number.

>>> import sukima
>>> sukima.usable_cpus()            # a container with a quota of 1.5 CPUs on a machine with 64
1.5
>>> with sukima.limit_threads():    # numpy, OpenBLAS, MKL, joblib, torch, polars, ...
...     import numpy

The package is for Linux. It starts no thread, and needs no other package. `limit_threads` uses threadpoolctl if it is
installed.
"""
from ._capacity import Explanation, Limit, Note, explain, threads, usable_cpus
from ._errors import Error, OverrideError, ProgramError
from ._limit_threads import Adjusted, Unchanged, limit_threads
from ._program import program, run
from ._version import __version__

__all__ = [
    "Adjusted",
    "Error",
    "Explanation",
    "Limit",
    "Note",
    "OverrideError",
    "ProgramError",
    "Unchanged",
    "__version__",
    "explain",
    "limit_threads",
    "program",
    "run",
    "threads",
    "usable_cpus",
]
