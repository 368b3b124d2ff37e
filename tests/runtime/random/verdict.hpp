// SPDX-License-Identifier: Apache-2.0
// The runtime that a random program gets, and the comparison of its run with the expected one.
#pragma once

#include "execute.hpp"
#include "program.hpp"

#include <sukima/settings.hpp>

#include <string>

namespace random_programs {

sukima::settings settings_of(const configuration& c);

/// Compares the result of a run with the possible ones. Returns the error; empty: none.
std::string check(const program& p, const configuration& c, const expectation& expected, const result& r,
                  const observations& seen);

}  // namespace random_programs
