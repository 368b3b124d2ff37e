// SPDX-License-Identifier: Apache-2.0
// The token: the secret that all nodes of a run know. A stranger to which a node connects receives a MAC made
// with the token, and can test guesses against that MAC offline. So the token must be long.
#pragma once

#include <string_view>

namespace sukima::cluster {

/// Checks that the token can contain 128 random bits: 32 hexadecimal digits, 39 decimal digits, or 22
/// characters of a mixed text.
/// \returns a sentence with the mistake; empty: the token is long enough
std::string_view obstacle_of_token(std::string_view token) noexcept;

}  // namespace sukima::cluster
