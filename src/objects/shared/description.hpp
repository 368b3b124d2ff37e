// SPDX-License-Identifier: Apache-2.0
// The description of a program of concurrent objects, from which the planner makes plans.
// docs/objects-planning.md has the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "execution_model.hpp"

namespace sukima::objects::model {

/// Messages that an object sends to a stream after a computation.
struct sending {
  std::size_t stream = 0;
  double per_input = 1;  ///< messages for each computation; fractions add up
  std::optional<std::size_t> input;  ///< if set, only after a message of this stream
};

/// An object computes once for each message that it receives, and then sends.
struct object {
  std::string name;
  double compute_ns = 0;  ///< mean time of one computation
  double spread_ns = 0;  ///< its standard deviation
  double blocked_ns = 0;  ///< mean time that it then sleeps in the kernel, for instance for input and output
  std::vector<std::size_t> receives;  ///< streams, served round robin
  std::vector<sending> sends;
  double starts = 0;  ///< computations without an input, at the beginning
  std::optional<double> activations;  ///< computations in the whole run; empty: one for each message
  std::string group;  ///< the wanted group; empty: the planner chooses
  std::optional<model::unit> unit;  ///< the wanted unit, never a pipe; empty: the planner chooses
};

/// A stream of a program.
struct stream {
  std::string name;
  std::size_t bytes = 8;  ///< of one message
  std::size_t capacity = 64;  ///< in messages, at least 1
  std::optional<double> messages;  ///< in the whole run; empty: computed from its senders
  bool local = false;  ///< true if its messages cannot travel to another process
  std::vector<std::size_t> senders, receivers;  ///< objects, each once
};

/// The part of a run from which the numbers come.
struct recorded_part {
  double seconds = 0;
  bool whole = true;  ///< false: only the first seconds of the run
};

/// A program: its objects and streams, and the work that they do.
struct description {
  std::string program;
  std::optional<recorded_part> recorded;  ///< empty: the numbers were written by hand
  std::vector<object> objects;
  std::vector<stream> streams;
};

inline constexpr std::size_t most_objects = 65536;

/// Thrown for a wrong description. The text is one sentence: the place, what is wrong, and what to do.
class description_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads the JSON text of a description.
/// \throws description_error
description parse_description(std::string_view text);

/// Returns the JSON text of a description, which parse_description can read.
std::string description_text(const description& program);

/// The numbers of computations and messages in the whole run.
struct flow {
  std::vector<double> activations;  ///< for each object
  std::vector<double> messages;  ///< for each stream
};

/// Computes the numbers by following the messages from the objects that start.
/// \throws description_error if messages circulate in a cycle in which no object has `activations`
/// \par Complexity O(rounds · (objects + streams)), with at most two rounds more than there are objects
flow flow_of(const description& program);

}  // namespace sukima::objects::model
