// SPDX-License-Identifier: Apache-2.0
// Random programs: trees that follow from one number. They contain forks, loops and searches with pieces that
// travel and pieces that stay, and exceptions that leave a fork while its other branch runs on some node.
#pragma once

#include <sukima/cluster.hpp>
#include <sukima/loop.hpp>
#include <sukima/search.hpp>

#include <cstdint>
#include <functional>
#include <ranges>
#include <stdexcept>
#include <string>

namespace random_programs {

using sukima::call;

struct spec {
  std::uint64_t seed;
  std::uint32_t depth;
};

inline std::uint64_t mixed(std::uint64_t x) noexcept {  // splitmix64
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}
inline spec child(spec part, std::uint64_t number) noexcept {
  return {mixed(part.seed + 17 * number + 1), part.depth - 1};
}
inline std::uint64_t combined(std::uint64_t a, std::uint64_t b) noexcept { return mixed(a * 31 + b); }

inline constexpr unsigned children_of_a_loop = 4;

enum class form : unsigned {
  calls,
  more_calls,
  three,
  lambdas,
  half,
  loop,
  loop_of_calls,
  search,
  second_throws,
  first_throws,
  count
};
inline form form_of(spec part) noexcept {
  return static_cast<form>(mixed(part.seed) % static_cast<unsigned>(form::count));
}

inline std::uint64_t leaf(spec part) noexcept {
  std::uint64_t value = part.seed;
  for (std::uint64_t i = mixed(part.seed + 5) % 1000; i != 0; --i) value = mixed(value);
  return value;
}

inline std::uint64_t value_of(const std::exception& e) { return mixed(std::stoull(e.what())); }

inline std::uint64_t alone(spec part) {
  if (part.depth == 0) return leaf(part);
  const auto first = [&] { return alone(child(part, 0)); };
  const auto second = [&] { return alone(child(part, 1)); };
  switch (form_of(part)) {
    case form::three:
      return combined(combined(first(), second()), alone(child(part, 2)));
    case form::loop:
    case form::loop_of_calls:
    case form::search: {
      std::uint64_t sum = 0;
      for (unsigned i = 0; i < children_of_a_loop; ++i) sum += alone(child(part, i));
      return sum;
    }
    case form::second_throws:
      return mixed(second());
    case form::first_throws:
      return mixed(first());
    default:
      return combined(first(), second());
  }
}

inline std::uint64_t piece(sukima::context c, spec part);

inline std::uint64_t fails(sukima::context c, spec part) {
  throw std::runtime_error(std::to_string(piece(c, part)));
}

inline std::uint64_t piece_of_child(sukima::context c, spec parent, unsigned i) {
  return piece(c, child(parent, i));
}

/// A step is in the workspace while its body runs, so a piece that travels contains the steps above it.
struct place {
  spec now;
  spec before;
};
inline std::uint64_t searched(sukima::context c, spec part) {
  place at{part, {}};
  return sukima::search(
      c, at, std::views::iota(0u, children_of_a_loop),
      [](place& w, unsigned i) { w = {child(w.now, i), w.now}; },
      [](place& w, unsigned) { w.now = w.before; },
      [](sukima::context below, place& w, unsigned) { return piece(below, w.now); }, std::uint64_t{0},
      std::plus{});
}

/// Returns the number of the exception that the throwing branch throws. The other branch is aborted, wherever
/// it runs.
inline std::uint64_t thrown(sukima::context c, spec part, bool first_throws) {
  try {
    if (first_throws)
      static_cast<void>(sukima::fork2(c, call<fails>(child(part, 0)), call<piece>(child(part, 1))));
    else
      static_cast<void>(sukima::fork2(c, call<piece>(child(part, 0)), call<fails>(child(part, 1))));
  } catch (const std::runtime_error& e) {
    return value_of(e);
  }
  return 0;
}

inline std::uint64_t piece(sukima::context c, spec part) {
  if (part.depth == 0) return leaf(part);
  const spec a = child(part, 0);
  const spec b = child(part, 1);
  switch (form_of(part)) {
    case form::three: {
      const auto [x, y, z] = sukima::fork(c, call<piece>(a), call<piece>(b), call<piece>(child(part, 2)));
      return combined(combined(x, y), z);
    }
    case form::lambdas: {
      const auto [x, y] = sukima::fork2(
          c, [=](sukima::context below) { return piece(below, a); },
          [=](sukima::context below) { return piece(below, b); });
      return combined(x, y);
    }
    case form::half: {
      const auto [x, y] =
          sukima::fork2(c, [=](sukima::context below) { return piece(below, a); }, call<piece>(b));
      return combined(x, y);
    }
    case form::loop:
      return sukima::parallel_reduce(
          c, 0u, children_of_a_loop, std::uint64_t{0},
          [=](sukima::context below, unsigned i) { return piece(below, child(part, i)); }, std::plus{});
    case form::loop_of_calls:
      return sukima::parallel_reduce(c, 0u, children_of_a_loop, std::uint64_t{0}, call<piece_of_child>(part),
                                     std::plus{});
    case form::search:
      return searched(c, part);
    case form::second_throws:
      return thrown(c, part, false);
    case form::first_throws:
      return thrown(c, part, true);
    default: {
      const auto [x, y] = sukima::fork2(c, call<piece>(a), call<piece>(b));
      return combined(x, y);
    }
  }
}

}  // namespace random_programs
