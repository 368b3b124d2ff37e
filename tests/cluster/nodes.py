# SPDX-License-Identifier: Apache-2.0
"""Starts nodes for tests, and waits for their events."""
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

TOKEN = "of the test, and of 128 bits and more"
#: Of all processes of a run: what hangs is ended by ctest, which knows the test's process only.
DIES_WITH_TEST = ["setpriv", "--pdeathsig", "KILL"]

# The process that started the tests may ignore or block signals, as a shell does for commands in the background. A launcher
# would not pass these signals on, and its nodes would ignore them.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM):
    signal.signal(number, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, ())


#: The launcher prints it if a node still runs two seconds after another one has ended, so on a busy machine at any time.
LATE_NODE = r"sukima: node.* still runs?: waiting for (?:its end|their ends) \(--grace SECONDS limits that\)\n"


def without_late_nodes(errors):
    """The launcher's stderr, as str or bytes, without the notices about late nodes."""
    if isinstance(errors, bytes):
        return re.sub(LATE_NODE.encode(), b"", errors)
    return re.sub(LATE_NODE, "", errors)


def run_launcher(words, **how):
    """Runs a launcher as subprocess.run does; its stderr lacks the notices about late nodes."""
    ended = subprocess.run(words, **how)
    if ended.stderr is not None:
        ended.stderr = without_late_nodes(ended.stderr)
    return ended


def used_ticks(pid):
    """The CPU time of a process in its own code, in ticks of 10 ms."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])


def state_of(pid):
    """The letter of a process's state, as in proc(5), or nothing if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def lives(pid):
    """Whether the process runs. A process that has ended counts as gone even before the machine's first process reaps it."""
    return state_of(pid) not in ("", "Z")


def go_on_if_stopped(pid):
    """Sends SIGCONT only to a stopped process. At the end of a process, LeakSanitizer stops its threads to attach to them.
    SIGCONT would undo that stop, and both would wait forever."""
    if state_of(pid) == "T":
        os.kill(pid, signal.SIGCONT)


def wait_until_ended(pids):
    while any(map(lives, pids)):
        time.sleep(0.01)


def wait_until_it_works(pid, ticks=10):
    """A node has no work before all nodes have met, and a helper has none before it receives a task."""
    while used_ticks(pid) < ticks:
        time.sleep(0.01)


class Meeting:
    """A place on the loopback device where nodes meet; it listens from the beginning."""

    def __init__(self, nodes):
        self.nodes = nodes
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.started = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for node in self.started:
            with contextlib.suppress(ProcessLookupError):
                node.kill()
            node.communicate()
        self.socket.close()

    def start(self, node, *words, listens=None, **variables):
        """Starts a process as this node. Node 0 has the socket, unless it must not listen."""
        has_socket = node == 0 if listens is None else listens
        environment = {**os.environ, "SUKIMA_WORKERS": "1", "SUKIMA_CLUSTER_NODES": str(self.nodes),
                       "SUKIMA_CLUSTER_NODE": str(node), "SUKIMA_CLUSTER_ADDRESS": self.address,
                       "SUKIMA_CLUSTER_TOKEN": TOKEN, "SUKIMA_CLUSTER_SILENCE": "0"}
        if has_socket:
            environment["SUKIMA_CLUSTER_LISTEN"] = str(self.socket.fileno())
        environment.update(variables)
        started = subprocess.Popen([*DIES_WITH_TEST, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=environment,
                                   pass_fds=[self.socket.fileno()] if has_socket else [])
        self.started.append(started)
        return started


def end(process):
    """Waits for its end, and returns (stdout, stderr, status)."""
    output, errors = process.communicate()
    return output, errors, process.returncode


class Mpi:
    """The mpirun of an implementation, and the plug-in of a build folder: "openmpi" or "mpich"."""

    def __init__(self, kind, build):
        self.kind = kind
        self.name = {"openmpi": "Open MPI", "mpich": "MPICH"}[kind]
        self.words = [f"mpirun.{kind}"] + {"openmpi": ["--oversubscribe", "--bind-to", "none"], "mpich": []}[kind]
        self.plugins = Path(build) / "lib/sukima"

    def is_there(self):
        return shutil.which(self.words[0]) is not None and (self.plugins / f"sukima-cluster-{self.kind}.so").exists()

    def environment(self, **more):
        return {**os.environ, "SUKIMA_CLUSTER_PLUGINS": str(self.plugins), "SUKIMA_WORKERS": "1",
                "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "GTEST_COLOR": "no", **more}

    def run(self, *words, **more):
        # By TERM it ends its nodes.
        return subprocess.run(["setpriv", "--pdeathsig", "TERM", *self.words, *map(str, words)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, env=self.environment(**more))


def tasks_given(errors):
    """The tasks that nodes gave away, by node, as the programs report them."""
    return [int(line.split(" tasks given")[0].split()[-1]) for line in errors.splitlines() if "tasks given" in line]
