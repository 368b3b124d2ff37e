# SPDX-License-Identifier: Apache-2.0
"""Medians with their quartiles and intervals, for the scripts that print tables, computed as in
lab/statistics/statistics.cpp."""
import random
import statistics


def quartiles(values):
    """The first quartile, the median and the third quartile; values between two are interpolated linearly."""
    if len(values) == 1:
        return [values[0]] * 3
    return statistics.quantiles(values, n=4, method="inclusive")


def interval_of_median(values):
    """The 95 % bootstrap interval of the median; the same values always give the same interval."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(2000))
    return medians[50], medians[-51]
