# SPDX-License-Identifier: Apache-2.0
"""The container image of packaging/Dockerfile, made without Docker: image_test.py SOURCE BUILD CMAKE

Installs the build, makes the image's file system as the Dockerfile does, and runs its entry point there.
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD, CMAKE = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
SCRIPT = SOURCE / "packaging" / "image.sh"
MOST_BYTES = 60_000_000
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("SUKIMA_", "OMP_", "LD_"))}
MOUNTS = 'mount --rbind /proc "$0/proc" && mount --rbind /sys "$0/sys" && exec chroot "$0" "$@"'


def instructions():
    """(instruction, rest) of the Dockerfile, with continued lines joined."""
    text = (SOURCE / "packaging" / "Dockerfile").read_text(encoding="utf-8")
    lines = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)).splitlines()
    return [tuple(line.split(None, 1)) for line in lines if line.strip()]


def value_of(name):
    return next(rest for instruction, rest in instructions() if instruction == name)


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        prefix, cls.root = pathlib.Path(folder.name, "prefix"), pathlib.Path(folder.name, "image")
        subprocess.run([CMAKE, "--install", BUILD, "--strip", "--component", "tools", "--prefix", prefix], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run([SCRIPT, prefix, cls.root], check=True)

    def start(self, *command, **variables):
        """The output of a command inside the image, which sees /proc and /sys of this machine."""
        in_image = dict(word.split("=", 1) for word in shlex.split(value_of("ENV")))
        done = subprocess.run(["unshare", "--mount", "sh", "-c", MOUNTS, self.root, *command], capture_output=True,
                              text=True, check=False, env={**ENVIRONMENT, **variables, "PATH": ":".join(
                                  (in_image["PATH"], "/usr/sbin", "/sbin"))})
        if re.search(r"unshare:|mount:|chroot: cannot change root", done.stderr):
            self.skipTest(f"no mounts can be made here: {done.stderr.strip()}")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def entry(self):
        return json.loads(value_of("ENTRYPOINT"))

    def test_is_small(self):
        files = [path for path in self.root.rglob("*") if path.is_file() and not path.is_symlink()]
        size = sum(path.stat().st_size for path in files)
        print(f"\n  {size / 1e6:.1f} MB, {len(files)} files", file=sys.stderr)
        self.assertLess(size, MOST_BYTES)
        self.assertFalse([path for path in files if path.suffix in (".a", ".pc", ".hpp", ".h", ".c", ".cpp")])

    def test_its_command_is_probe_through_run(self):
        self.assertEqual(self.entry(), ["sukima", "run", "--"])
        output = self.start(*self.entry(), *json.loads(value_of("CMD")), SUKIMA_CPUS="1.5")
        self.assertTrue(output.startswith("You can use 1.5 CPUs, because the user set 1.5 CPUs"), output)

    def test_has_probe_run_and_explain(self):
        self.assertEqual(self.start("sukima", "probe", "--threads", SUKIMA_CPUS="2.5"), "3\n")
        self.assertIn("--prometheus", self.start("sukima", "probe", "--help"))
        self.assertIn("sukima explain", self.start("sukima", "explain", "--help"))
        plan = self.start("sukima", "run", "--dry-run", "--threads", "3")
        self.assertIn("OMP_NUM_THREADS=3", plan)
        self.assertIn("/usr/local/lib", re.search(r"LD_PRELOAD=(\S+)", plan)[1])

    def test_the_dockerfile_makes_this_image(self):
        stages = [rest.split()[0] for instruction, rest in instructions() if instruction == "FROM"]
        self.assertEqual(stages[-1], "scratch")
        last = len(instructions()) - 1 - [instruction for instruction, _ in reversed(instructions())].index("FROM")
        self.assertEqual([rest for instruction, rest in instructions()[last:] if instruction in ("COPY", "ADD", "RUN")],
                         ["--from=build /image /"])
        commands = " && ".join(rest for instruction, rest in instructions() if instruction == "RUN")
        for file in re.findall(r"\b(?:scripts|packaging)/\S+", commands):
            self.assertTrue(os.access(SOURCE / file, os.X_OK), file)
        targets = subprocess.run(["ninja", "-C", BUILD, "-t", "targets", "all"], capture_output=True, text=True, check=True)
        known = {line.split(":")[0] for line in targets.stdout.splitlines()}
        for target in re.search(r"--target ([^&]*)", commands)[1].split():
            self.assertIn(target, known)
        presets = json.loads((SOURCE / "CMakePresets.json").read_text(encoding="utf-8"))
        self.assertIn(re.search(r"--preset (\S+)", commands)[1], {one["name"] for one in presets["configurePresets"]})
        self.assertIn("cmake --install build/wheel --strip --component tools --prefix /usr/local", commands)
        self.assertTrue(commands.strip().endswith("packaging/image.sh /usr/local /image"), commands)

    def test_refuses_wrong_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            for arguments, sentence in (([], "give two arguments"), ([folder, f"{folder}/new"], "has no bin/sukima"),
                                        ([self.root / "usr" / "local", folder], "exists; give a new folder")):
                done = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn(sentence, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
