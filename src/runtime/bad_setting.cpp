// SPDX-License-Identifier: Apache-2.0
// The end of a program that does not catch `bad_setting`.
#include "shared/bad_setting.hpp"

#include <sukima/errors.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace sukima::detail {

namespace {

constexpr int status_usage = 2;

/// The handler that the program had before, for all other exceptions. Written before `end_program` can run.
std::terminate_handler handler_before = nullptr;

[[noreturn]] void end_program() {
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const bad_setting& wrong) {
      std::fflush(stdout);
      std::fprintf(stderr, "%s\n", wrong.what());
      std::_Exit(status_usage);  // without destructors: other threads may still use what these would destroy
    } catch (...) {  // NOLINT(bugprone-empty-catch): the handler below reads the exception itself
    }
  }
  if (handler_before != nullptr) handler_before();
  std::abort();
}

}  // namespace

void throw_bad_setting(const std::string& text) {
  // The first refusal sets the handler, so programs with accepted settings keep the handler that they have.
  static const bool is_set = [] {
    handler_before = std::get_terminate();
    std::set_terminate(end_program);
    return true;
  }();
  static_cast<void>(is_set);
  throw bad_setting(text);
}

}  // namespace sukima::detail
