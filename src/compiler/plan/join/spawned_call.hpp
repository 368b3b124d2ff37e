// SPDX-License-Identifier: Apache-2.0
// The parts of a spawned statement.
#pragma once

#include "plan/input.hpp"

#include <optional>
#include <vector>

namespace sukima::language {

/// A spawned statement: [target op] [casts] callee(arguments).
struct spawned_call {
  const clang::CallExpr* call = nullptr;
  const clang::BinaryOperator* assignment = nullptr;
  token_range target{};
  token_index operation = no_token;
  std::vector<token_range> casts;
  token_range callee{};
  std::vector<token_range> arguments;
};

/// Splits a spawned statement into its parts. \returns nothing, after an error message, if the statement is
/// not a call
std::optional<spawned_call> parts_of(const plan_input& in, const join_statement& statement);

}  // namespace sukima::language
