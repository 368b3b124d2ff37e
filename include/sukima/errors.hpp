// SPDX-License-Identifier: Apache-2.0
// The exceptions that the library throws.
#pragma once

#include <stdexcept>

namespace sukima {
/// \addtogroup runtime
/// @{

/// Thrown in a computation that is aborted because a sibling threw, a solution was found, or it was
/// cancelled. It is not a std::exception, so `catch (std::exception&)` does not catch it. Code that
/// catches it with `catch (...)` should rethrow it. Otherwise the next poll throws it again, and the
/// result of such code is discarded: a cancelled computation has no result. Destructors and `noexcept`
/// functions fork only in `sukima::shielded`, where it is not thrown. docs/cancelling.md has all
/// rules.
struct aborted {};

/// Thrown if a setting has a value that is not accepted. The text names the setting, the value and the
/// accepted values. A program that does not catch it prints the text on stderr and ends with exit code 2.
struct bad_setting : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// Thrown if a program uses the library in a way that cannot work: a runtime after its shutdown, the parent's
/// runtime in a child process after fork(), a second resume of one suspension. The text says
/// which.
struct usage_error : std::logic_error {
  using std::logic_error::logic_error;
};

/// Thrown by a touch of a future that was cancelled, or whose runtime ended before the future began.
struct cancelled : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Thrown if a search's `apply` rejects a choice that it had accepted, when the search is replayed after a
/// backtrack. `apply` must depend only on the workspace and the choice. Prune in the body instead.
struct replay_error : std::logic_error {
  using std::logic_error::logic_error;
};

/// @}
}  // namespace sukima
