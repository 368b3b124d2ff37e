// SPDX-License-Identifier: Apache-2.0
// Observes the waits of a program's objects, and finds the deadlocked objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sukima::objects::detail {

struct object_core;
struct program_core;

/// One of the streams for which an object waits.
struct observed_wait {
  std::uint32_t stream = 0;  ///< its number among the program's streams
  bool receives = false;
  std::uint64_t fill = 0;  ///< messages in the stream
};
struct observed_end {
  std::uint32_t stream = 0;
  bool is_out = false;
};
struct observed_object {
  static constexpr std::uint32_t kept_by_none = ~std::uint32_t{0};
  /// The count of its waits, which is odd if it waits only for streams, none of which is ready. 0 if it is
  /// alive, or has ended.
  std::uint64_t count = 0;
  bool has_ended = false;
  /// Number of the object that waits inside thread_bound and keeps this one from running, or is this one.
  std::uint32_t kept_by = kept_by_none;
  std::vector<observed_wait> waits;
  std::vector<observed_end> ends;  ///< the ends that it holds
};
/// The state of all objects at about the same time.
struct observation {
  std::vector<observed_object> objects;
  /// For each stream, whether it has ends that no object has used yet. Any object may hold them.
  std::vector<bool> unknown_outs, unknown_ins;
};

/// Observes one object of this process. \pre the program runs, and program_core::ends_lock is held
observed_object observe(const object_core& o);
/// Observes all objects, which are in this process. \pre the program runs
observation observe_all(program_core& p);

struct found_deadlock {
  std::vector<std::size_t> dead;  ///< numbers of the deadlocked objects
  /// The ends that no object has used, and with which code outside the objects could end their waits. Such
  /// ends have been forgotten in a variable, as a rule.
  std::vector<observed_end> unused;
};
/// Finds the deadlocked objects. An object is suspected if it is in the same wait in both observations. Every
/// other object is alive, and so is an object whose wait a living object can end. But an object does not
/// count as alive as long as a suspected one keeps it from running (thread_bound). The ends come from the
/// first observation, because an object erases an end when the stream has been closed. A living object may
/// hold any end that no object has used yet.
/// \param now an observation that began after `before` was complete
/// \par Complexity linear in the waits and ends
found_deadlock find_dead(const observation& before, const observation& now);

/// Describes which objects wait for which streams and objects, and a capacity that would help.
std::string describe_deadlock(const program_core& p, const observation& seen, const found_deadlock& found);

}  // namespace sukima::objects::detail
