// SPDX-License-Identifier: Apache-2.0
// Ends a program that does not catch `bad_setting` or `shortage`.
#include "shared/bad_setting.hpp"
#include "shared/shortage.hpp"
#include "shared/start_thread.hpp"

#include <sukima/errors.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace sukima::detail {

namespace {

constexpr int status_usage = 2;
constexpr int status_failure = 70;

/// The program's previous handler, for all other exceptions. Written before `end_program` can run.
std::terminate_handler handler_before = nullptr;

[[noreturn]] void end_with(const std::exception& why, int status) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", why.what());
  std::_Exit(status);  // without destructors, because other threads may still use the objects
}

[[noreturn]] void end_program() {
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const bad_setting& wrong) {
      end_with(wrong, status_usage);
    } catch (const shortage& missing) {
      end_with(missing, status_failure);
    } catch (...) {  // NOLINT(bugprone-empty-catch): the handler below reads the exception itself
    }
  }
  if (handler_before != nullptr) handler_before();
  std::abort();
}

/// The first such exception sets the handler, so programs without one keep the handler that they have.
void set_handler() {
  static const bool is_set = [] {
    handler_before = std::get_terminate();
    std::set_terminate(end_program);
    return true;
  }();
  static_cast<void>(is_set);
}

}  // namespace

void throw_bad_setting(const std::string& text) {
  set_handler();
  throw bad_setting(text);
}

shortage::shortage(std::errc kind, const std::string& text) : system_error(std::make_error_code(kind), text) {
  set_handler();
}

void throw_no_thread(const std::string& purpose) {
  throw shortage(std::errc::resource_unavailable_try_again,
                 "sukima: no thread can be started for " + purpose +
                     "; allow the process more (ulimit -u, ulimit -v, pids.max)");
}

}  // namespace sukima::detail
