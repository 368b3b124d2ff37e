// SPDX-License-Identifier: Apache-2.0
// The description of a program of concurrent objects, from which plans are made.
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

/// Messages of an object to a stream after a computation.
struct sending {
  std::size_t stream = 0;
  double per_input = 1;  ///< messages for each computation; fractions add up
  std::optional<std::size_t> input;  ///< only after a message of this stream
};

/// An object computes once for each message that it receives, and then sends.
struct object {
  std::string name;
  double compute_ns = 0;  ///< mean time of one computation
  double spread_ns = 0;  ///< its standard deviation
  double blocked_ns = 0;  ///< mean time that it then sleeps in the kernel, as for input and output
  std::vector<std::size_t> receives;  ///< streams, served round robin
  std::vector<sending> sends;
  double starts = 0;  ///< computations without an input, at the beginning
  std::optional<double> activations;  ///< computations in the whole run; nothing: as many as messages come
  std::string group;  ///< a wish; empty: planned
  std::optional<model::unit> unit;  ///< a wish; never a pipe
};

struct stream {
  std::string name;
  std::size_t bytes = 8;  ///< of one message
  std::size_t capacity = 64;  ///< in messages, at least 1
  std::optional<double> messages;  ///< in the whole run; nothing: what its senders' computations yield
  bool local = false;  ///< its messages cannot travel to another process
  std::vector<std::size_t> senders, receivers;  ///< objects, each once
};

/// The part of a run from which the numbers come.
struct recorded_part {
  double seconds = 0;
  bool whole = true;  ///< false: the first seconds of it
};

struct description {
  std::string program;
  std::optional<recorded_part> recorded;  ///< nothing: the numbers were written by hand
  std::vector<object> objects;
  std::vector<stream> streams;
};

inline constexpr std::size_t most_objects = 65536;

/// One sentence: where in the description, what is wrong, and what to do.
class description_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads the JSON text of a description.
/// \throws description_error
description parse_description(std::string_view text);

/// The JSON text; parse_description reads it.
std::string description_text(const description& program);

/// The amount of work and messages in the whole run.
struct flow {
  std::vector<double> activations;  ///< of each object
  std::vector<double> messages;  ///< of each stream
};

/// Follows the messages from the objects that start.
/// \throws description_error if they go round a cycle in which no object has `activations`
/// O(rounds · (objects + streams)), at most as many rounds as there are objects.
flow flow_of(const description& program);

}  // namespace sukima::objects::model
