// SPDX-License-Identifier: Apache-2.0
// Forms of generated C (src/compiler/plan/c_text.hpp).
#include "plan/c_text.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace {

using sukima::language::c_text;

TEST(c_text, fills_each_hole_wherever_it_stands) {
  EXPECT_EQ(c_text("$a$_$b$($a$)", {{"a", "f"}, {"b", "run"}}), "f_run(f)");
  EXPECT_EQ(c_text("x$a$y", {{"a", ""}}), "xy");
}

TEST(c_text, leaves_what_fills_a_hole_as_it_is) {
  EXPECT_EQ(c_text("{$a$ }", {{"a", " $b$;\n\n  c;"}}), "{ $b$;\n\n  c; }");
}

TEST(c_text, joins_lines_by_one_blank) {
  EXPECT_EQ(c_text(R"(
    switch (k) {$cases$
      default: break;
    }
)",
                   {{"cases", " case 0: f();"}}),
            "switch (k) { case 0: f(); default: break; }");
}

TEST(c_text, ends_a_line_at_an_empty_one) {
  EXPECT_EQ(c_text(R"(
    int a;

    int b;

)",
                   {}),
            "int a;\nint b;\n");
}

TEST(c_text, keeps_blanks_within_a_line) { EXPECT_EQ(c_text("  a  b ", {}), "a  b "); }

TEST(c_text, refuses_a_hole_without_a_text_and_one_without_an_end) {
  EXPECT_THROW(c_text("$b$", {{"a", "f"}}), std::logic_error);
  EXPECT_THROW(c_text("a $b", {{"b", "f"}}), std::logic_error);
}

}  // namespace
