# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/check-includes.py on small made-up trees: check_includes_test.py SCRIPT"""
import pathlib
import sys
import tempfile
import unittest

import in_process

SCRIPT = sys.argv.pop()

GOOD = {
    "include/sukima/capacity.h": "#include <stdint.h>\n",
    "include/sukima/fork.hpp": "#include <sukima/detail/task.hpp>\n#include <vector>\n",
    "include/sukima/detail/task.hpp": "",
    "src/capacity/parse.c": '#include "parse.h"\n#include <sukima/capacity.h>\n',
    "src/capacity/parse.h": "#include <stdbool.h>\n",
    "src/capacity/shared/shortage.h": "",
    "src/capacity/shared/shortage.c": '#include "shared/shortage.h"\n',
    "src/runtime/runtime_parts.hpp": "",
    "src/runtime/whole_runtime.hpp":
        '#include "runtime_parts.hpp"\n'
        "#include <sukima/fork.hpp>\n#include <base/shared/descriptor.hpp>\n#include <capacity/shared/shortage.h>\n",
    "src/cli/shared/console.hpp": "",
    "src/cli/shared/version.hpp.in": "",
    "src/cli/main.cpp": '#include "shared/version.hpp"\n#include "probe/plan.hpp"\n#include <sukima/capacity.h>\n',
    "src/cli/probe/plan.hpp": '#include <base/shared/child.hpp>\n#include "capacity/meter.hpp"\n',
    "src/cli/capacity/meter.hpp": "#include <sukima/capacity.h>\n",
    "src/base/shared/child.hpp": "",
    "src/base/shared/descriptor.hpp": "",
    "src/cli/run/plan.hpp": "",
    "src/calibrate/cpu_pairs.hpp": "",
    "src/cluster/node.hpp": "",
    "src/compiler/driver/driver.hpp": "",
    "src/host/optimise/sweep.hpp": "",
    "lab/benchmarks/fork_join/fib.cpp": '#include "kernels/fib.hpp"\n#include <sukima/fork.hpp>\n',
    "lab/commands/bench/plan.hpp": '#include <cli/shared/console.hpp>\n#include "shared/runner.hpp"\n',
    "lab/commands/bench/plan.cpp": '#include "bench/plan.hpp"\n',
    "lab/commands/lab/files.hpp": "",
    "lab/run/runner.cpp": '#include <base/shared/child.hpp>\n#include "shared/runner.hpp"\n',
    "lab/shared/runner.hpp": "",
    "src/objects/model/flow.hpp": "",
    "src/preload/settings.h": "",
    "src/tascell/call.hpp": "",
    "lab/validation/guests/guest.hpp": "",
    "lab/validation/truth/stage.cpp": '#include "truth/stage.hpp"\n#include <base/shared/child.hpp>\n#include <sukima/capacity.h>\n',
    "lab/validation/truth/stage.hpp": "",
    "tests/capacity/parse_test.cpp": '#include "parse.h"\n#include <gtest/gtest.h>\n',
}


class CheckIncludes(unittest.TestCase):
    def check(self, changes):
        """Exit code and output for the good tree with changes; a change to None removes the file."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**GOOD, **changes}.items():
                if text is not None:
                    path = pathlib.Path(folder, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text, encoding="utf-8")
            done = in_process.run(SCRIPT, folder)
            return done.returncode, done.stdout + done.stderr

    def assert_rejected(self, changes, place, reason):
        code, output = self.check(changes)
        self.assertEqual(code, 1, output)
        self.assertIn(place, output)
        self.assertIn(reason, output)
        self.assertEqual(len(output.splitlines()), 1, output)

    def test_good_tree(self):
        code, output = self.check({})
        self.assertEqual(code, 0, output)
        self.assertIn(f"{len(GOOD)} files", output)

    def test_upward_dependency(self):
        self.assert_rejected({"src/capacity/parse.h": "\n#include <sukima/fork.hpp>\n"},
                             "src/capacity/parse.h:2:", "capacity must not use the part runtime")

    def test_base_is_below_all_but_capacity(self):
        self.assert_rejected({"src/base/shared/child.hpp": "#include <sukima/fork.hpp>\n"},
                             "src/base/shared/child.hpp:1:", "base must not use the part runtime")
        self.assert_rejected({"src/base/shared/child.hpp": "#include <sukima/capacity.h>\n"},
                             "src/base/shared/child.hpp:1:", "base must not use the part capacity")
        self.assert_rejected({"src/capacity/parse.h": "#include <base/shared/child.hpp>\n"},
                             "src/capacity/parse.h:1:", "capacity must not use the part base")

    def test_public_header_upward(self):
        self.assert_rejected({"include/sukima/tascell/tascell.h": "",
                              "include/sukima/fork.hpp": "#include <sukima/tascell/tascell.h>\n"},
                             "include/sukima/fork.hpp:1:", "runtime must not use the part tascell")

    def test_shared_header_upward(self):
        self.assert_rejected({"src/runtime/shared/x.h": "", "src/capacity/parse.h": "#include <runtime/shared/x.h>\n"},
                             "src/capacity/parse.h:1:", "capacity must not use the part runtime")

    def test_shared_header_that_does_not_exist(self):
        self.assert_rejected({"src/runtime/whole_runtime.hpp": '#include <capacity/shared/gone.h>\n#include "runtime_parts.hpp"\n'},
                             "src/runtime/whole_runtime.hpp:1:", "no shared header src/capacity/shared/gone.h")

    def test_own_shared_header_in_angle_brackets(self):
        self.assert_rejected({"src/capacity/parse.c": "#include <capacity/shared/shortage.h>\n"},
                             "src/capacity/parse.c:1:", "are included with quotes")

    def test_internal_header_of_another_part(self):
        self.assert_rejected({"src/cli/main.cpp": '#include "whole_runtime.hpp"\n'},
                             "src/cli/main.cpp:1:", "internal header of the part runtime")

    def test_quoted_public_header(self):
        self.assert_rejected({"src/cli/main.cpp": '#include "sukima/fork.hpp"\n'}, "src/cli/main.cpp:1:", "angle brackets")

    def test_quoted_public_header_in_a_test(self):
        self.assert_rejected({"tests/runtime/a.cpp": '#include "sukima/fork.hpp"\n'}, "tests/runtime/a.cpp:1:",
                             "angle brackets")

    def test_path_upward(self):
        self.assert_rejected({"src/cli/probe/plan.hpp": '#include "../../runtime/core.hpp"\n'},
                             "src/cli/probe/plan.hpp:1:", "no '..'")

    def test_missing_own_header(self):
        self.assert_rejected({"src/cli/shared/version.hpp.in": None}, "src/cli/main.cpp:1:", "no such file")

    def test_missing_public_header(self):
        self.assert_rejected({"include/sukima/detail/task.hpp": None}, "include/sukima/fork.hpp:1:", "no public header")

    def test_cpp_header_in_capacity(self):
        self.assert_rejected({"src/capacity/parse.h": "#include <vector>\n"}, "src/capacity/parse.h:1:", "plain C")

    def test_cpp_source_in_capacity(self):
        self.assert_rejected({"src/capacity/more.cpp": ""}, "src/capacity/more.cpp", "plain C")

    def test_unknown_part(self):
        self.assert_rejected({"src/surprise/a.cpp": ""}, "src/surprise/a.cpp", "has no place in the order")

    def test_command_uses_another_command(self):
        self.assert_rejected({"src/cli/run/plan.hpp": '#include "probe/plan.hpp"\n'}, "src/cli/run/plan.hpp:1:",
                             "the command run must not use the command probe")

    def test_shared_folder_uses_a_command(self):
        self.assert_rejected({"src/cli/capacity/meter.hpp": '#include "run/plan.hpp"\n'},
                             "src/cli/capacity/meter.hpp:1:", "the shared folder capacity must not use the command run")

    def test_tool_uses_another_tool(self):
        self.assert_rejected({"lab/validation/truth/stage.hpp": '#include "guests/guest.hpp"\n'}, "lab/validation/truth/stage.hpp:1:",
                             "the tool truth must not use the tool guests")

    def test_tool_uses_a_command(self):
        self.assert_rejected({"lab/validation/truth/stage.hpp": '#include "probe/plan.hpp"\n'},
                             "lab/validation/truth/stage.hpp:1:", "internal header of the part cli")

    def test_command_of_the_laboratory_uses_another_one(self):
        self.assert_rejected({"lab/commands/lab/files.hpp": '#include "bench/plan.hpp"\n'},
                             "lab/commands/lab/files.hpp:1:", "the command lab must not use the command bench")

    def test_laboratory_uses_a_command_of_its_own(self):
        self.assert_rejected({"lab/run/runner.cpp": '#include "commands/bench/plan.hpp"\n'}, "lab/run/runner.cpp:1:",
                             "must not use the command bench")

    def test_tool_uses_the_runtime(self):
        self.assert_rejected({"lab/validation/truth/stage.hpp": "#include <sukima/fork.hpp>\n"}, "lab/validation/truth/stage.hpp:1:",
                             "lab must not use the part runtime")

    def test_product_includes_from_the_laboratory(self):
        for source in ("src/host/optimise/sweep.hpp", "include/sukima/fork.hpp", "src/cli/run/plan.hpp"):
            for name in ("<lab/shared/runner.hpp>", '"shared/runner.hpp"', '"run/runner.hpp"', "<run/runner.hpp>",
                         '"bench/plan.hpp"', "<commands/bench/plan.hpp>", '"kernels/fib.hpp"',
                         "<lab/benchmarks/kernels/fib.hpp>", "<truth/stage.hpp>"):
                with self.subTest(source=source, name=name):
                    self.assert_rejected({source: f"#include {name}\n", "lab/run/runner.hpp": "",
                                          "lab/benchmarks/kernels/fib.hpp": ""},
                                         f"{source}:1:", "the product must not use the laboratory")

    def test_own_header_with_the_name_of_one_of_the_laboratory(self):
        code, output = self.check({"src/host/shared/runner.hpp": "",
                                   "src/host/optimise/sweep.hpp": '#include "shared/runner.hpp"\n'})
        self.assertEqual(code, 0, output)

    def test_build_of_the_product_names_the_laboratory(self):
        for text in ("sukima_add_parts(lab)", "add_subdirectory(../lab/statistics)", "target_link_libraries(x sukima_lab)",
                     "file(READ ${PROJECT_SOURCE_DIR}/lab/benchmarks/kernels/sizes.json sizes)",
                     "if(SUKIMA_BUILD_LAB)"):
            with self.subTest(text):
                self.assert_rejected({"src/host/CMakeLists.txt": f"# Not the lab.\n{text}\n"},
                                     "src/host/CMakeLists.txt:2:", "the product must not use the laboratory")

    def test_build_of_the_product_without_the_laboratory(self):
        code, output = self.check({"src/host/CMakeLists.txt": "add_library(x label.cpp) # sukima_lab links it\n"})
        self.assertEqual(code, 0, output)

    def test_runtime_layer_upward(self):
        self.assert_rejected({"src/runtime/steal/steal.hpp": "", "src/runtime/park/park.cpp": '#include "steal/steal.hpp"\n'},
                             "src/runtime/park/park.cpp:1:",
                             "the layer 'park' must not use the layer 'publishing and stealing'")

    def test_runtime_layer_downward(self):
        code, output = self.check({"src/runtime/park/park.hpp": "",
                                   "src/runtime/steal/steal.cpp": '#include "park/park.hpp"\n'})
        self.assertEqual(code, 0, output)

    def test_runtime_file_that_is_named_in_a_layer(self):
        self.assert_rejected({"src/runtime/park/park.hpp": "",
                              "src/runtime/park/wake_epoch.cpp": '#include "park/park.hpp"\n'},
                             "src/runtime/park/wake_epoch.cpp:1:", "the layer 'constants and the data of a worker' must not use")

    def test_objects_layer_upward(self):
        self.assert_rejected({"src/objects/stream/pipe.cpp": '#include "process/processes.hpp"\n',
                              "src/objects/process/processes.hpp": ""},
                             "src/objects/stream/pipe.cpp:1:",
                             "the layer 'streams and their shared memory' must not use the layer 'processes'")

    def test_objects_file_that_is_named_in_a_lower_layer(self):
        code, output = self.check({"src/objects/stream/stream.cpp": '#include "program/program_core.hpp"\n',
                                   "src/objects/program/program_core.hpp": ""})
        self.assertEqual(code, 0, output)

    def test_objects_file_without_a_layer(self):
        self.assert_rejected({"src/objects/surprise.cpp": ""}, "src/objects/surprise.cpp:", "add it to OBJECTS_LAYERS")

    def test_runtime_file_without_a_layer(self):
        self.assert_rejected({"src/runtime/surprise/a.cpp": ""}, "src/runtime/surprise/a.cpp:", "it has no layer")

    def test_core_in_a_source_that_is_not_on_the_list(self):
        self.assert_rejected({"src/runtime/worker.cpp": '#include "runtime_parts.hpp"\n'}, "src/runtime/worker.cpp:1:",
                             "knows all parts of the runtime")

    def test_core_in_a_test_that_is_not_on_the_list(self):
        self.assert_rejected({"tests/runtime/a.cpp": '#include "whole_runtime.hpp"\n'}, "tests/runtime/a.cpp:1:",
                             "knows all parts of the runtime")

    def test_core_user_that_does_not_include_it(self):
        self.assert_rejected({"src/runtime/lifecycle.cpp": ""}, "check-includes.py:", "remove it from CORE_USERS")

    def test_part_without_a_folder(self):
        self.assert_rejected({"src/calibrate/cpu_pairs.hpp": None}, "check-includes.py", "calibrate has no folder")

    def test_no_sources(self):
        code, output = self.check({name: None for name in GOOD if name.startswith("src/")})
        self.assertEqual(code, 2)
        self.assertIn("has no sources in src/", output)


if __name__ == "__main__":
    unittest.main()
