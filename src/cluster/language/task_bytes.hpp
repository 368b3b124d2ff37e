// SPDX-License-Identifier: Apache-2.0
// The bytes of a task of the language, and of its result. Members are in the order of their declaration:
//
//   of a task     an `in` member as it is in memory; an array: a byte, 1 if there is one, and its elements;
//                 an `out` array whose length is an `in` member: a byte, 1 if PUT has made room for it
//   of a result   an `out` member as it is in memory; an array as above
//
// All nodes run the same binary, so sizes, padding and byte order agree (sukima/transfer.hpp).
#pragma once

#include "transport/transport.hpp"

#include <sukima/tascell/cluster.h>
#include <tascell/shared/malloced.hpp>

#include <cstddef>
#include <vector>

namespace sukima::cluster {

/// Appends a task that has not begun. \throws std::length_error an array is too long to travel
void put_task(const sukima_travelling& type, const void* object, bytes& to);

/// Reads the result of a task that another node ran. If PUT has made room for an array, its elements are
/// stored there, or else in new memory.
/// \returns the new memory, which must be released when the program gets the object
/// \throws std::length_error the bytes are not such a result; the object may be partly written, but has no
/// new memory
[[nodiscard]] std::vector<detail::malloced> get_result(const sukima_travelling& type, void* object,
                                                       byte_view from);

/// The program's object of a task that another node has sent. It owns the arrays of the object.
class received_object {
 public:
  /// \throws std::length_error the bytes are not such a task
  received_object(const sukima_travelling& type, byte_view from);
  received_object(const received_object&) = delete;
  received_object& operator=(const received_object&) = delete;
  /// Frees the arrays, including those that the task has made for its result.
  ~received_object();

  void* get() const noexcept { return object_.get(); }
  /// Appends the result. \throws std::length_error the result is too long to travel
  void put_result(bytes& to) const;

 private:
  struct own_array {
    detail::malloced memory;
    std::size_t size;
  };
  char* new_array(std::size_t size);
  /// Whether a pointer points into one of the arrays that were made here.
  bool is_own(const char* place) const noexcept;

  const sukima_travelling& type_;
  detail::malloced object_;
  std::vector<own_array> arrays_;
  std::vector<std::size_t>
      sizes_;  ///< of the members' arrays when the task arrived; the task may change lengths
};

}  // namespace sukima::cluster
