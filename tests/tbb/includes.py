#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each header with a name of TBB includes those that oneTBB's header of that name includes, and that
the headers compile with -fno-rtti.

    includes.py [--compiler COMPILER]

A program for oneTBB may use tbb::task_arena, and include only <tbb/parallel_for.h>.
Exit code: 0 if all are there, 1 if one is missing, 2 for wrong use.
"""
import argparse
import pathlib
import re
import subprocess
import sys

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"

# What the public headers of oneTBB 2023.2 include directly. The rest follows, because each of these is checked, too.
INCLUDED = {
    "blocked_nd_range": ["blocked_range"],
    "blocked_range2d": ["blocked_range"],
    "blocked_range3d": ["blocked_range"],
    "collaborative_call_once": ["task_arena", "task_group"],
    "combinable": ["cache_aligned_allocator", "enumerable_thread_specific"],
    "concurrent_hash_map": ["spin_rw_mutex", "tbb_allocator"],
    "concurrent_map": ["tbb_allocator"],
    "concurrent_priority_queue": ["cache_aligned_allocator"],
    "concurrent_queue": ["cache_aligned_allocator"],
    "concurrent_set": ["tbb_allocator"],
    "concurrent_unordered_map": ["tbb_allocator"],
    "concurrent_unordered_set": ["tbb_allocator"],
    "concurrent_vector": ["blocked_range", "cache_aligned_allocator"],
    "enumerable_thread_specific": ["cache_aligned_allocator", "concurrent_vector", "profiling", "task", "tbb_allocator"],
    "info": ["version"],
    "mutex": ["profiling"],
    "parallel_for": ["blocked_range", "partitioner", "profiling", "task_group"],
    "parallel_for_each": ["parallel_for", "task_group"],
    "parallel_invoke": ["task_group"],
    "parallel_pipeline": ["task_group"],
    "parallel_reduce": ["partitioner", "profiling", "task_group"],
    "parallel_scan": ["blocked_range", "partitioner", "profiling", "task_group"],
    "parallel_sort": ["blocked_range", "parallel_for", "profiling"],
    "partitioner": ["cache_aligned_allocator", "task_arena", "task_group"],
    "queuing_mutex": ["profiling"],
    "queuing_rw_mutex": ["profiling"],
    "rw_mutex": ["profiling"],
    "spin_mutex": ["profiling"],
    "spin_rw_mutex": ["profiling"],
    "task_arena": ["info", "task_group"],
    "task_group": ["profiling"],
    "task_scheduler_observer": ["task_arena"],
}


def headers_of(compiler, header):
    """The names of TBB's headers that a file with only this #include reads."""
    rule = subprocess.run(
        [compiler, "-std=c++20", "-MM", f"-I{INCLUDE}/sukima/tbb-compat", f"-I{INCLUDE}", "-x", "c++", "-"],
        input=f"#include <tbb/{header}.h>\n", stdout=subprocess.PIPE, text=True, check=True).stdout
    return set(re.findall(r"/oneapi/tbb/(\w+)\.h\b", rule))


def is_compiled_without_rtti(compiler):
    """Whether all headers that need no type information compile without it (docs/pitfalls.md)."""
    headers = ("tbb/tbb.h", "sukima/sukima.hpp", "sukima/execution.hpp", "sukima/capacity.hpp", "sukima/place.hpp")
    return subprocess.run(
        [compiler, "-std=c++20", "-fno-rtti", "-fsyntax-only", f"-I{INCLUDE}/sukima/tbb-compat", f"-I{INCLUDE}",
         "-D_GLIBCXX_USE_TBB_PAR_BACKEND=0", "-x", "c++", "-"],
        input="".join(f"#include <{header}>\n" for header in headers), text=True, check=False).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    chosen = parser.parse_args()
    failures = 0
    for header, wanted in INCLUDED.items():
        missing = sorted(set(wanted) - headers_of(chosen.compiler, header))
        if missing:
            failures += 1
            print(f"tbb/{header}.h must include {' and '.join(f'<oneapi/tbb/{name}.h>' for name in missing)}, as oneTBB's does")
    if not is_compiled_without_rtti(chosen.compiler):
        failures += 1
        print("the headers must compile with -fno-rtti")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
