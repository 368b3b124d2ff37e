# SPDX-License-Identifier: Apache-2.0
"""The environment without the user's own settings that would change programs which are tested or measured."""
import os

PREFIXES = ("OMP_", "GOMP_", "KMP_", "OPENBLAS_", "SUKIMA_", "RAYON_", "UV_", "LD_PRELOAD", "MAKEFLAGS")
NAMES = ("GOMAXPROCS", "NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "PYTHON_CPU_COUNT", "CMAKE_BUILD_PARALLEL_LEVEL")
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(PREFIXES) and name not in NAMES}
