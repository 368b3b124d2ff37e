// SPDX-License-Identifier: Apache-2.0
// What the library throws.
#pragma once

#include <stdexcept>

namespace sukima {

/// Leaves the functions of a computation that was aborted because a sibling threw, a solution was found, or
/// somebody cancelled it. It is not a std::exception, so that `catch (std::exception&)` lets it pass. Code
/// that catches it with `catch (...)` should rethrow it; otherwise it comes again at the next poll.
struct aborted {};

/// A setting has a value that is not accepted. The text names the setting, the value and the accepted ones.
struct bad_setting : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// A runtime was used in a way that cannot work: after it was shut down, after fork() in the child while
/// tasks ran elsewhere, a second resume of one suspension. The text says which.
struct usage_error : std::logic_error {
  using std::logic_error::logic_error;
};

}  // namespace sukima
