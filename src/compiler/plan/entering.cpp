// SPDX-License-Identifier: Apache-2.0
#include "plan/entering.hpp"

#include "plan/c_text.hpp"
#include "plan/types.hpp"

namespace sukima::language {

namespace {

constexpr std::string_view entering_form = R"(
    struct $name$_frame {$members$ };

    static void $name$_run(char *sukima_top, void *sukima_frame) {
      struct $name$_frame *const sukima_f = (struct $name$_frame *)sukima_frame;
      $call$
    }

    $words$$heading$ {
      struct $name$_frame sukima_f = { $values$ };
      sukima_enter($name$_run, &sukima_f);$return$
    }

)";

}  // namespace

void print_entering(planner& p, const entering_function& function) {
  const bool has_result = !function.result->isVoidType();
  const std::string heading =
      declare_unqualified(p, function.result, function.name + "(" + function.parameters + ")");
  std::string members = function.members;
  if (has_result) members += " " + declare_unqualified(p, function.result, "sukima_result") + ";";
  p.out.before_function.text(
      c_text(entering_form, {{"name", function.name},
                             {"words", function.words},
                             {"heading", heading},
                             {"members", members},
                             {"values", function.values},
                             {"call", function.call},
                             {"return", has_result ? " return sukima_f.sukima_result;" : ""}}));
}

}  // namespace sukima::language
