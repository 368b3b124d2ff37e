# SPDX-License-Identifier: Apache-2.0
"""The errors of this package. A wrong argument is a ValueError or TypeError, as everywhere in Python."""


class Error(Exception):
    """Any error of this package. Its text is one sentence."""


class OverrideError(Error, ValueError):
    """The environment variable SUKIMA_CPUS is set and is not a number of CPUs."""


class ProgramError(Error):
    """The program sukima, which comes with this package, cannot be started or refused its arguments."""
