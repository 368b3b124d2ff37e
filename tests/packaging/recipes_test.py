# SPDX-License-Identifier: Apache-2.0
"""The recipes of package managers, for an archive of these sources, without a network: recipes_test.py SOURCE WORK [--build]

Without --build the test checks what each recipe passes to CMake, with a cmake that only records its arguments. With
--build it builds and installs the PKGBUILD and the port of vcpkg, and runs an installed program.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

BUILD = "--build" in sys.argv
SOURCE, WORK = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
sys.path.insert(0, str(SOURCE / "python"))
sys.dont_write_bytecode = True
import backend  # pylint: disable=wrong-import-position

VERSION = backend.version()
NAMES = {"PKGBUILD": "aur/PKGBUILD", "conda": "conda/meta.yaml", "homebrew": "homebrew/sukima.rb",
         "conan": "conan/conanfile.py", "vcpkg": "vcpkg/portfile.cmake", "vcpkg.json": "vcpkg/vcpkg.json"}
# The functions of vcpkg that the port calls, for a local archive.
VCPKG = """
function(vcpkg_download_distfile variable)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FILENAME;SHA512" "URLS")
  string(REPLACE "file://" "" path "${arg_URLS}")
  file(SHA512 "${path}" found)
  if(NOT found STREQUAL arg_SHA512)
    message(FATAL_ERROR "the checksum of ${path} is another one")
  endif()
  set(${variable} "${path}" PARENT_SCOPE)
endfunction()
function(vcpkg_extract_source_archive variable)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ARCHIVE" "")
  file(ARCHIVE_EXTRACT INPUT "${arg_ARCHIVE}" DESTINATION "${WORK}/source")
  file(GLOB inside "${WORK}/source/*")
  set(${variable} "${inside}" PARENT_SCOPE)
endfunction()
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  run(cmake -S "${arg_SOURCE_PATH}" -B "${WORK}/build" -G Ninja -DCMAKE_BUILD_TYPE=Release
    "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" -DCMAKE_INSTALL_LIBDIR=lib ${arg_OPTIONS})
endfunction()
function(vcpkg_cmake_install)
  run(cmake --build "${WORK}/build")
  run(cmake --install "${WORK}/build")
endfunction()
function(need)
  if(BUILT AND NOT EXISTS "${CURRENT_PACKAGES_DIR}/${ARGV0}")
    message(FATAL_ERROR "${ARGV0} was not installed")
  endif()
endfunction()
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "PACKAGE_NAME;CONFIG_PATH" "")
  need("${arg_CONFIG_PATH}/${arg_PACKAGE_NAME}Config.cmake")
endfunction()
function(vcpkg_fixup_pkgconfig)
  need(lib/pkgconfig/sukima.pc)
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  file(COPY_FILE "${arg_FILE_LIST}" "${WORK}/copyright")
endfunction()
"""


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(dir=WORK)
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.archive = cls.folder / backend.build_sdist(cls.folder)
        cls.url = f"file://{cls.archive}"
        subprocess.run([SOURCE / "packaging" / "write_recipes.py", cls.archive, cls.url, cls.folder / "recipes"], check=True)
        cls.text = {name: (cls.folder / "recipes" / path).read_text(encoding="utf-8") for name, path in NAMES.items()}
        content = cls.archive.read_bytes()
        cls.sums = {"256": hashlib.sha256(content).hexdigest(), "512": hashlib.sha512(content).hexdigest()}

    def run_with_cmake(self, command, **options):
        """Runs a recipe. Without --build its cmake only records its arguments, which the function returns."""
        path, notes = self.folder / "bin", self.folder / "cmake.log"
        environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"}
        notes.write_text("", encoding="utf-8")
        if BUILD:
            environment["PATH"] = os.environ["PATH"]
        else:
            path.mkdir(exist_ok=True)
            (path / "cmake").write_text(f'#!/bin/sh\necho "$@" >> "{notes}"\n', encoding="utf-8")
            (path / "cmake").chmod(0o755)
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, **options)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr)
        return notes.read_text(encoding="utf-8").splitlines()

    def test_all_name_the_version_and_the_archive(self):
        for name, text in self.text.items():
            self.assertNotRegex(text, r"@[A-Z0-9_]+@", name)
            self.assertIn(VERSION, text, name)
            if name != "vcpkg.json":
                self.assertIn(self.url, text, name)
                self.assertIn(self.sums["512" if name == "vcpkg" else "256"], text, name)
        self.assertEqual(json.loads(self.text["vcpkg.json"])["version"], VERSION)

    def test_all_options_exist(self):
        options = (SOURCE / "cmake" / "sukima_options.cmake").read_text(encoding="utf-8")
        options += (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")
        known = set(re.findall(r"option\((SUKIMA_\w+)", options))
        for name, text in self.text.items():
            used = set(re.findall(r"SUKIMA_BUILD_\w+", text))
            self.assertLessEqual(used, known, name)
            self.assertEqual("SUKIMA_BUILD_TESTS" in used, name != "vcpkg.json", name)

    def test_the_pkgbuild(self):
        place = self.folder / "aur"
        for name in ("src", "pkg"):
            (place / name).mkdir(parents=True)
        shutil.copy(self.folder / "recipes" / "aur" / "PKGBUILD", place)
        subprocess.run(["tar", "-xzf", self.archive, "-C", place / "src"], check=True)
        # The steps of makepkg, with its variables.
        script = ("set -e; source ../PKGBUILD; srcdir=$PWD pkgdir=$PWD/../pkg; "
                  'echo "${sha256sums[0]}  $1" | sha256sum --check --quiet; build; package')
        notes = self.run_with_cmake(["bash", "-c", script, "bash", str(self.archive)], cwd=place / "src")
        self.assertTrue((place / "pkg" / "usr" / "share" / "licenses" / "sukima" / "LICENSE").is_file())
        if BUILD:
            program = place / "pkg" / "usr" / "bin" / "sukima"
            said = subprocess.run([program, "probe", "--threads"], capture_output=True, text=True, check=True,
                                  env={**os.environ, "SUKIMA_CPUS": "2.5"}).stdout
            self.assertEqual(said, "3\n")
            self.assertTrue((place / "pkg" / "usr" / "lib" / "libsukima.so").exists())
        else:
            self.assertRegex(notes[0], rf"^-S sukima-{re.escape(VERSION)} -B build -G Ninja .*-DSUKIMA_BUILD_LAB=OFF")
            self.assertEqual(notes[1:], ["--build build", "--install build"])

    def test_the_port_of_vcpkg(self):
        script = self.folder / "port.cmake"
        place = self.folder / "vcpkg"
        script.write_text(f'set(WORK "{place}")\nset(BUILT {int(BUILD)})\nset(CURRENT_PACKAGES_DIR "{place}/packages")\n{VCPKG}'
                          f'include("{self.folder}/recipes/vcpkg/portfile.cmake")\n', encoding="utf-8")
        notes = self.run_with_cmake([shutil.which("cmake"), "-P", script])
        self.assertEqual((place / "copyright").read_bytes(), (SOURCE / "LICENSE").read_bytes())
        if not BUILD:
            self.assertIn("-DSUKIMA_BUILD_CLI=OFF", notes[0])

    def test_the_recipe_of_conan(self):
        """Runs the class with stand-ins for Conan's own classes, and checks its calls and the options that it passes to CMake."""
        calls = []

        class CMake:
            def __init__(self, recipe):
                self.recipe = recipe

            def __getattr__(self, name):
                return lambda: calls.append(name)

        class Toolchain:
            def __init__(self, _recipe):
                self.cache_variables = {}

            def generate(self):
                calls.append(self.cache_variables)

        modules = {"conan": {"ConanFile": object}, "conan.errors": {"ConanInvalidConfiguration": ValueError},
                   "conan.tools": {}, "conan.tools.cmake": {
                       "CMake": CMake, "CMakeToolchain": Toolchain, "CMakeDeps": CMake,
                       "cmake_layout": lambda recipe, src_folder: calls.append(src_folder)},
                   "conan.tools.files": {"copy": lambda *given: calls.append(given[1:]),
                                         "get": lambda recipe, url, **given: calls.append((url, given))}}
        for name, members in modules.items():
            sys.modules[name] = types.ModuleType(name)
            vars(sys.modules[name]).update(members)
            self.addCleanup(sys.modules.pop, name)
        found = {}
        exec(compile(self.text["conan"], "conanfile.py", "exec"), found)  # pylint: disable=exec-used
        recipe = found["Sukima"]()
        recipe.settings, recipe.source_folder, recipe.package_folder = types.SimpleNamespace(os="Linux"), "s", "p"
        recipe.requires = calls.append
        recipe.cpp_info = types.SimpleNamespace(set_property=lambda *given: calls.append(given))
        for step in ("validate", "requirements", "layout", "source", "generate", "build", "package", "package_info"):
            getattr(recipe, step)()
        self.assertEqual(recipe.version, VERSION)
        self.assertIn((self.url, {"sha256": self.sums["256"], "strip_root": True}), calls)
        variables = next(call for call in calls if isinstance(call, dict))
        self.assertEqual((variables["SUKIMA_BUILD_CLI"], variables["SUKIMA_BUILD_TESTS"]), ("OFF", "OFF"))
        self.assertEqual([call for call in calls if call in ("configure", "build", "install")],
                         ["configure", "build", "install"])
        recipe.settings.os = "Windows"
        self.assertRaises(ValueError, recipe.validate)

    def test_refuses_a_missing_archive_or_a_wrong_address(self):
        for arguments, sentence in ((("nonesuch", "https://example.org/a"), "'nonesuch' is not a file"),
                                    ((self.archive, "a b"), "'a b' is not an address")):
            done = subprocess.run([SOURCE / "packaging" / "write_recipes.py", *arguments, self.folder / "no"],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(sentence, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
