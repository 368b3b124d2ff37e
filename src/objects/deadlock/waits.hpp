// SPDX-License-Identifier: Apache-2.0
// What the objects of a program wait for, as the search for deadlocks sees it, and who of them is deadlocked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sukima::objects::detail {

struct object_core;
struct program_core;

/// One stream that an object waits for.
struct observed_wait {
  std::uint32_t stream = 0;  ///< its number among the program's streams
  bool receives = false;
  std::uint64_t fill = 0;
};
struct observed_end {
  std::uint32_t stream = 0;
  bool out = false;
};
struct observed_object {
  /// Of its waits; odd while it waits for streams alone, of which none is ready; 0: it is alive, or over.
  std::uint64_t count = 0;
  bool over = false;
  std::vector<observed_wait> waits;
  std::vector<observed_end> ends;  ///< that it holds
};
/// All objects at about the same time.
struct observation {
  std::vector<observed_object> objects;
  /// Of each stream: are there ends that no object has used yet? They may be anybody's.
  std::vector<bool> unknown_outs, unknown_ins;
};

/// Looks at one object of this process. \pre the program runs, and program_core::ends_lock is held
observed_object observe(const object_core& o);
/// Looks at all objects, which are in this process. \pre the program runs
observation observe_all(program_core& p);

/// Who is deadlocked: numbers of objects. Whoever has been in one and the same wait in both observations is
/// suspected, everybody else alive; whoever waits for what somebody alive can do is alive, too. Ends count as
/// they were seen first, because an end is forgotten when its stream has been closed.
/// \param now begun after `before` was complete
/// \par Complexity linear in the waits and ends
std::vector<std::size_t> find_dead(const observation& before, const observation& now);

/// Who waits for what and whom, and what would help.
std::string describe_deadlock(const program_core& p, const observation& seen,
                              std::span<const std::size_t> dead);

}  // namespace sukima::objects::detail
