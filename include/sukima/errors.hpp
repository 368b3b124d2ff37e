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

/// A setting has a value that is not accepted. The text names the setting, the value and the accepted ones.
/// A program that does not catch it prints the text on stderr and ends with exit code 2.
struct bad_setting : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// A runtime was used in a way that cannot work: after it was shut down, after fork() in the child while
/// tasks ran elsewhere, a second resume of one suspension. The text says which.
struct usage_error : std::logic_error {
  using std::logic_error::logic_error;
};

/// The touched future was cancelled, or its runtime ended before it began.
struct cancelled : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A search's `apply` rejected, when the search was replayed after a backtrack, a choice that it had
/// accepted: it must depend only on the workspace and the choice. Prune in the body instead.
struct replay_error : std::logic_error {
  using std::logic_error::logic_error;
};

/// @}
}  // namespace sukima
