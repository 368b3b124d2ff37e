// SPDX-License-Identifier: Apache-2.0
// The secret that all nodes of a run know. A stranger that nodes connect to gets a MAC of it, with which
// guesses can be tried anywhere.
#pragma once

#include <string_view>

namespace sukima::cluster {

/// What is wrong with the token, as a sentence; empty: nothing. It must be able to have 128 random bits: 32
/// hexadecimal digits, 39 decimal ones, 22 characters of a mixed text.
std::string_view obstacle_of_token(std::string_view token) noexcept;

}  // namespace sukima::cluster
