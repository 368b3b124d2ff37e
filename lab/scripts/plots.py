# SPDX-License-Identifier: Apache-2.0
"""Code of all scripts that draw: matplotlib without a screen, and files that are either complete or not written."""
import os
import pathlib
import sys

PROGRAM = pathlib.Path(sys.argv[0]).name


def load():
    """matplotlib.pyplot. Ends the program if matplotlib is missing."""
    try:
        import matplotlib
    except ImportError:
        sys.exit(f"{PROGRAM}: this Python has no matplotlib (on Debian: apt-get install python3-matplotlib)")
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "sukima"  # the same figures give the same file
    from matplotlib import pyplot
    return pyplot


def plain(text):
    """The text for matplotlib, which would otherwise read what is between two dollar signs as a formula."""
    return text.replace("$", r"\$")


def save(figure, prefix, endings=("png", "svg"), dpi="figure"):
    """Writes PREFIX.ENDING for each ending. If a file cannot be written, the old file stays and the program ends."""
    for ending in endings:
        unfinished = f"{prefix}.{os.getpid()}.tmp"
        # With the time of day in it, the same figures would give another file.
        metadata = {"Date": None} if ending == "svg" else None
        try:
            figure.savefig(unfinished, format=ending, dpi=dpi, metadata=metadata)
            os.replace(unfinished, f"{prefix}.{ending}")
        except OSError as error:
            if os.path.exists(unfinished):
                os.remove(unfinished)
            sys.exit(f"{PROGRAM}: cannot write '{prefix}.{ending}': {error.strerror}")
