#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Maven repository of the build is as docs/java.md describes it:
maven_test.py SUKIMA_JAVAC RUNTIME REPOSITORY GROUP:ARTIFACT:VERSION PAGE

The test finds the coordinate in a folder as Maven and Gradle do: group/artifact/version/artifact-version with .pom and
.jar. A program compiles and runs with only that archive. The page's coordinates are those of the build.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

PROGRAM = """\
import sukima.closures.NestedRunnable;
class A {
    static void call(NestedRunnable r) { r.run(); }
    public static void main(String[] arguments) {
        int n = 0;
        NestedRunnable r = () -> n++;
        call(r);
        System.out.println("called " + n);
    }
}
"""


def main():
    compiler, runtime, repository, coordinate, page = sys.argv[1:]
    group, artifact, version = coordinate.split(":")
    base = pathlib.Path(repository, *group.split("."), artifact, version, f"{artifact}-{version}")
    project = xml.parse(f"{base}.pom").getroot()
    names = {child.tag.rpartition("}")[2]: child.text for child in project}
    found = [names.get(name) for name in ("modelVersion", "groupId", "artifactId", "version", "packaging")]
    if found != ["4.0.0", group, artifact, version, "jar"]:
        sys.exit(f"{base}.pom says {found}")
    archive = pathlib.Path(f"{base}.jar")
    if archive.read_bytes() != pathlib.Path(runtime).read_bytes():
        sys.exit(f"{archive} is not the build's {runtime}")
    with tempfile.TemporaryDirectory(prefix="sukima-java-") as folder:
        source = pathlib.Path(folder, "A.java")
        source.write_text(PROGRAM)
        subprocess.run([compiler, "-cp", archive, "-d", folder, source], check=True)
        output = subprocess.run(["java", "-cp", f"{folder}:{archive}", "A"], check=True, capture_output=True, text=True).stdout
        if output != "called 1\n":
            sys.exit(f"the program printed {output!r}")
    text = pathlib.Path(page).read_text()
    in_maven = re.findall(r"<groupId>(.*)</groupId>\s*<artifactId>(.*)</artifactId>\s*<version>(.*)</version>", text)
    in_gradle = re.findall(r"implementation '(.*):(.*):(.*)'", text)
    for kind, coordinates in (("Maven", in_maven), ("Gradle", in_gradle)):
        if coordinates != [(group, artifact, version)]:
            sys.exit(f"{page} gives {kind} the coordinates {coordinates}, but the build makes {coordinate}")


if __name__ == "__main__":
    main()
