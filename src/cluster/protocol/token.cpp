// SPDX-License-Identifier: Apache-2.0
#include "protocol/token.hpp"

#include <bitset>
#include <cstddef>

namespace sukima::cluster {

namespace {

constexpr double least_bits = 128;
/// A random text of that length has at least this number of different characters; a repeated one has fewer.
constexpr std::size_t least_characters = 8;

double bits_of_character(std::string_view token) noexcept {
  constexpr double decimal = 3.32;
  constexpr double hexadecimal = 4;
  constexpr double mixed = 5.95;  // letters and digits
  const auto has_only = [&](std::string_view characters) {
    return token.find_first_not_of(characters) == std::string_view::npos;
  };
  if (has_only("0123456789")) return decimal;
  return has_only("0123456789abcdef") || has_only("0123456789ABCDEF") ? hexadecimal : mixed;
}

}  // namespace

std::string_view obstacle_of_token(std::string_view token) noexcept {
  std::bitset<256> different;
  for (const char c : token) different.set(static_cast<unsigned char>(c));
  const double bits = bits_of_character(token) * static_cast<double>(token.size());
  if (bits >= least_bits && different.count() >= least_characters) return {};
  return "SUKIMA_CLUSTER_TOKEN can be guessed: give at least 128 bits, as the 32 digits of `openssl rand "
         "-hex 16`";
}

}  // namespace sukima::cluster
