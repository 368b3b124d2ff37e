// SPDX-License-Identifier: Apache-2.0
// The runtime's view of tasks that may run on another node. sukima/cluster.hpp specializes `travels` and so
// decides which callables travel, and how they are encoded as bytes. A fork executes no code of this file.
#pragma once

#include <sukima/detail/task.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sukima::detail {

struct received_task;

/// One form of callables that travel; the same object in each process of a program.
struct travel_form {
  const char* name = nullptr;  ///< the mangled name of the callable's type
  /// Makes a task that another node gave away, from its bytes. \throws the exceptions of decoding
  received_task* (*make)(const travel_form&, std::span<const std::byte>) = nullptr;
  /// Appends the result of a task that ended without an exception.
  void (*put_result)(received_task&, std::vector<std::byte>&) = nullptr;
};

/// The functions of one kind of choice point whose tasks may travel.
struct travel_point {
  const travel_form* form;
  /// Appends the captures of a task that no worker has begun.
  void (*put)(const task&, std::vector<std::byte>&);
  /// Stores the result that another node sent. \throws the exceptions of decoding
  void (*get)(task&, std::span<const std::byte>);
};

/// How many of the last `left` iterations of a loop are split off if its pieces travel: a power of two
/// between a third and two thirds of them. If two nodes are at different iterations of the same loop, each
/// piece of one node is then also a piece of the other, or is a part of such a piece, or contains some. Under
/// `--hope` it has the same name there. With half of the remaining iterations, each iteration would give
/// another piece.
/// \pre left ≥ 1
/// Source: cluster.md of the design, section 5, "Loops".
constexpr std::uint64_t travelling_part(std::uint64_t left) noexcept {
  return left < 3 ? 1 : std::bit_floor(left - (left - 1) / 3 - 1);
}

/// Whether and how this callable travels. It stays on its node unless a specialization states how it travels:
///     static constexpr bool possible = true;
///     static const travel_form form;
///     static void put(const F&, std::vector<std::byte>&);
///     static RESULT get(std::span<const std::byte>);
template <class F> struct travels {
  static constexpr bool possible = false;
};

/// A task that another node gave to this one. It has no owner here: its waiter is on another node.
struct received_task : task {
  const travel_form* form = nullptr;
  std::uint64_t id = 0;  ///< its name at the node that gave it away
  std::uint32_t from = 0;  ///< that node
};

}  // namespace sukima::detail
