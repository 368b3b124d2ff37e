# SPDX-License-Identifier: Apache-2.0
"""A control group for a test, with or without a CPU time quota, if this user may make one."""
import os
import pathlib
import subprocess
import time


def _mounts():
    """(version, mount point) of the CPU controller's hierarchies."""
    for line in pathlib.Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        _, point, kind, options = line.split()[:4]
        if kind == "cgroup" and "cpu" in options.split(","):
            yield 1, point
        if kind == "cgroup2":
            yield 2, point


def _own_path(version):
    for line in pathlib.Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if (version == 2 and controllers == "") or (version == 1 and "cpu" in controllers.split(",")):
            return path
    return "/"


class QuotaGroup:
    """A group below this process's own one, in a `with` statement. `why_not` says why there is none.

    `cpus` is its quota, None if it has none.
    """

    def __init__(self, cpus):
        self.folder = None
        self.why_not = "the cpu controller is not mounted here"
        for version, point in _mounts():
            folder = pathlib.Path(point + _own_path(version)) / f"sukima-test-{os.getpid()}-{time.monotonic_ns()}"
            try:
                folder.mkdir()
            except OSError as error:
                self.why_not = f"no control group can be made here: {error}"
                continue
            self.folder, self.version = folder, version
            try:
                if cpus is not None:
                    self.set(cpus)
                subprocess.run(["true"], preexec_fn=self.enter, check=True)
                return
            except OSError as error:
                self.why_not = f"a group cannot be given a quota here: {error}"
            except subprocess.SubprocessError:
                self.why_not = "a process cannot be put into such a group"
            self.__exit__()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for _ in range(200):
            if self.folder is None:
                return
            try:
                self.folder.rmdir()
                self.folder = None
            except OSError:
                time.sleep(0.01)  # a process that has just ended is still counted for a moment

    def set(self, cpus):
        """Changes the quota."""
        quota = int(cpus * 100000)
        if self.version == 2:
            (self.folder / "cpu.max").write_text(f"{quota} 100000")
        else:
            (self.folder / "cpu.cfs_period_us").write_text("100000")
            (self.folder / "cpu.cfs_quota_us").write_text(str(quota))

    def enter(self):
        """For subprocess's preexec_fn."""
        (self.folder / "cgroup.procs").write_text("0")
