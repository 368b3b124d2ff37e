# SPDX-License-Identifier: Apache-2.0
"""A Python program with a pool of processes, for the tests of `sukima run`."""
import multiprocessing
import os


def square(number):
    return number * number


if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool() as pool:
        results = pool.map(square, range(1000))
        print("threads", len(multiprocessing.active_children()))
    print("affinity", len(os.sched_getaffinity(0)))
    print("result", sum(results))
