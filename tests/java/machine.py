# SPDX-License-Identifier: Apache-2.0
"""One virtual machine that compiles and runs one program after another.

Starting a machine and loading javac's classes takes most of the time of a short compilation. So tests that do not need
a process of its own for each program share a machine. It is started as the script sukima-javac starts its own.
"""
import atexit
import os
import pathlib
import subprocess
import sys
import tempfile

QUICK = ["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
MAIN = "sukima.translator.Main"


def command_of(script):
    """The command that the script sukima-javac executes, up to its class, which a `java` that prints its arguments shows."""
    with tempfile.TemporaryDirectory(prefix="sukima-java-") as home:
        java = pathlib.Path(home, "bin/java")
        java.parent.mkdir()
        java.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
        java.chmod(0o755)
        printed = subprocess.run([script], capture_output=True, text=True, check=True, env={**os.environ, "JAVA_HOME": home})
    options = printed.stdout.splitlines()
    if options[-1] != MAIN:
        raise ValueError(f"{script} does not execute java with the class {MAIN} at the end, but with {options}")
    home = os.environ.get("JAVA_HOME")
    return [f"{home}/bin/java" if home else "java", *options[:-1]]


def succeeded(result):
    """The result, if the command succeeded; otherwise its messages end the test."""
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, result.args[:3]))} ... failed with code {result.returncode}:\n{result.stderr[:4000]}")
    return result


def lines_of_program(class_path, name):
    """What a program prints, in a machine of its own."""
    return succeeded(subprocess.run(["java", *QUICK, "-cp", class_path, name], capture_output=True, text=True)).stdout.splitlines()


class Machine:
    """Each method does what the command of that name does, and returns a CompletedProcess."""

    def __init__(self, script):
        source = pathlib.Path(__file__).with_name("Machine.java")
        self.process = subprocess.Popen([*command_of(script), source], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        atexit.register(self.end)

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def sukima_javac(self, *arguments):
        return self.answer("sukima-javac", *arguments)

    def javac(self, *arguments):
        return self.answer("javac", *arguments)

    def java(self, class_path, name, *arguments):
        return self.answer("java", class_path, name, *arguments)

    def answer(self, *words):
        words = [str(word) for word in words]
        self.process.stdin.write("\x1f".join(words).encode() + b"\n")
        self.process.stdin.flush()
        head = self.process.stdout.readline()
        if not head:
            raise RuntimeError(f"the virtual machine ended with code {self.process.wait()} at: {' '.join(words)}")
        code, *sizes = (int(number) for number in head.split())
        output, errors = (self.process.stdout.read(size).decode() for size in sizes)
        return subprocess.CompletedProcess(words, code, output, errors)
