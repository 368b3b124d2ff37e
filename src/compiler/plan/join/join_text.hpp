// SPDX-License-Identifier: Apache-2.0
// The C of a join, with holes (plan/c_text.hpp).
#pragma once

#include "plan/c_text.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sukima::language {

/// Printed before the function: the choice point's type and kind, and the functions over it.
inline constexpr std::string_view join_declarations = R"(
    struct $name$ { sukima_loop sukima_head;$members$ } __attribute__((aligned(16)));

    static void $name$_run(char *sukima_top, void *sukima_choice_point, int sukima_k);

    static const sukima_kind $name$_kind = SUKIMA_JOIN_KIND(struct $name$, $name$_run);

    static void $name$_end(struct $name$ *$point$);

)";

/// The function with the statements that a thief may run.
inline constexpr std::string_view join_run_function = R"(
    static void $name$_run(char *sukima_top, void *sukima_choice_point, int sukima_k) {
      struct $name$ *const $point$ = (struct $name$ *)sukima_choice_point;
      (void)sukima_top;
      (void)$point$;$prototypes$
      switch (sukima_k) {$cases$
        default: break;
      }
    }

)";

/// The function that stores the results of thieves.
inline constexpr std::string_view join_end_function = R"(
    static __inline__ void $name$_end(struct $name$ *$point$) {
      if (sukima_was_split(&$point$->sukima_head.sukima_head)) {
        sukima_await(&$point$->sukima_head.sukima_head);
        int sukima_k;
        for (sukima_k = $point$->sukima_head.sukima_end; sukima_k < $count$; sukima_k++)
          switch (sukima_k) {$cases$
            default: break;
          }
      }
    }

)";

/// The join itself, which first fills in the choice point.
inline constexpr std::string_view join_begin = R"(
    {$operands$
      struct $name$ *const $point$ = (struct $name$ *)(void *)$top$;
      $point$->sukima_head.sukima_head.sukima_kind_or_child = (sukima_word)&$name$_kind;$stores$
      $point$->sukima_head.sukima_i = 0;
      $point$->sukima_head.sukima_end = $count$;
      sukima_poll(&$point$->sukima_head.sukima_head);
)";

/// Printed before each further statement, which runs unless a thief took it.
inline constexpr std::string_view join_next = R"(
      $point$->sukima_head.sukima_i = $k$;
      if ($k$ < $point$->sukima_head.sukima_end)
)";

/// Printed before the last statement, which is never given away.
inline constexpr std::string_view join_last = R"(
      $point$->sukima_head.sukima_i = $count$;
      {
)";

inline constexpr std::string_view join_end = R"(
      $name$_end($point$);
    }
)";

/// A statement with an assignment, after a thief has run it.
inline constexpr std::string_view join_assigned = R"(
          case $k$: $target$ $operation$$casts$$result$; break;
)";

/// The C of all spawned statements, as it is built.
struct join_text {
  std::string name;  ///< name of the choice point's type, and prefix of the functions' names
  std::string point;  ///< the variable that points to it
  std::string members;
  std::string operands;  ///< computed before any store, because they may call worker functions
  std::string stores;
  std::vector<std::string> own;  ///< the text that the owner runs, by statement
  std::string given;  ///< the cases that a thief runs
  std::string assigned;  ///< the cases in which the owner uses a thief's result
};

}  // namespace sukima::language
