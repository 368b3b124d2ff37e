#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Maven builds a program with nested functions: maven_build_test.py SUKIMA_JAVAC RUNTIME REPOSITORY PAGE EXAMPLE

The project's description is that of docs/java.md, with the build's own folders. Maven resolves the coordinate from the
build's repository, and its compiler plugin calls sukima-javac. Plugins come from Debian's packages in /usr/share/maven-repo,
so no network is needed.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PLUGINS = pathlib.Path("/usr/share/maven-repo/org/apache/maven/plugins")
SETTINGS = """\
<settings>
  <mirrors><mirror><id>debian</id><mirrorOf>central</mirrorOf><url>file:///usr/share/maven-repo</url></mirror></mirrors>
</settings>
"""
PROJECT = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId>
  <artifactId>example</artifactId>
  <version>1</version>
  <properties><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
{}
</project>
"""


def newest(plugin):
    """Debian's version of a plugin; the names of older versions are links to it."""
    found = sorted(path for path in (PLUGINS / plugin).glob("*") if list(path.glob("*.jar")) and path.is_dir())
    return found[-1].name if found else None


def main():
    compiler, runtime, repository, page, example = sys.argv[1:]
    versions = {name: newest(name) for name in ("maven-compiler-plugin", "maven-resources-plugin")}
    # A dependency of the compiling plugin names junit-bom.
    has_plugins = None not in versions.values() and pathlib.Path("/usr/share/maven-repo/org/junit/junit-bom").exists()
    if shutil.which("mvn") is None or not has_plugins:
        print("Maven is not here, or not its plugins for compiling and resources")
        return 77
    text = pathlib.Path(page).read_text()
    description = re.search(r"```xml\n(.*?)```", text, re.DOTALL).group(1)
    description = description.replace("/path/to/build/release/maven", repository).replace("/path/to/build/release/bin/sukima-javac", compiler)
    resources = ("<plugin><artifactId>maven-resources-plugin</artifactId><version>" + versions["maven-resources-plugin"]
                 + "</version></plugin>\n    </plugins>")
    description = description.replace("</plugins>", resources, 1)
    description = re.sub(r"(maven-compiler-plugin</artifactId>\s*<version>)[^<]*", r"\g<1>" + versions["maven-compiler-plugin"], description)
    with tempfile.TemporaryDirectory(prefix="sukima-java-") as name:
        folder = pathlib.Path(name)
        sources = folder / "src/main/java"
        sources.mkdir(parents=True)
        shutil.copy(example, sources)
        (folder / "pom.xml").write_text(PROJECT.format(description))
        (folder / "settings.xml").write_text(SETTINGS)
        result = subprocess.run(["mvn", "-B", "-q", "-s", "settings.xml", f"-Dmaven.repo.local={folder}/local", "compile"],
                                cwd=folder, capture_output=True, text=True, env={**os.environ, "HOME": name})
        if result.returncode != 0:
            sys.exit(f"mvn ended with code {result.returncode}:\n{result.stdout[-3000:]}{result.stderr[-1000:]}")
        resolved = list((folder / "local/sukima/sukima-java").glob("*/sukima-java-*.jar"))
        if len(resolved) != 1 or resolved[0].read_bytes() != pathlib.Path(runtime).read_bytes():
            sys.exit(f"Maven resolved {resolved} instead of {runtime}")
        program = pathlib.Path(example)
        output = subprocess.run(["java", "-cp", f"{folder}/target/classes:{resolved[0]}", program.stem], check=True, capture_output=True,
                                text=True).stdout
        if output != program.with_suffix(".expected").read_text():
            sys.exit(f"{program.name} printed {output!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
