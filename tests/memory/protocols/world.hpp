// SPDX-License-Identifier: Apache-2.0
// One runtime without threads of its own, whose workers the explored threads are, and the programs for it.
#pragma once

#include "cancel/abort.hpp"
#include "choice/poll.hpp"
#include "explorer.hpp"
#include "fiber/suspend.hpp"
#include "fiber/switch.hpp"
#include "steal/request.hpp"
#include "steal/steal.hpp"
#include "whole_runtime.hpp"

#include <sukima/detail/ambient.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace sukima::memory {

/// A task with a message: written by one side, read by the other.
struct test_task : detail::root_task {
  std::function<void()> body;  ///< nothing: it is never run
  plain<int> message;
  explicit test_task(std::function<void()> does = {});
};

/// A choice point of the test: one that can be split `parts` times.
struct test_choice_point : detail::choice_point {
  test_choice_point();
  unsigned parts = 0;
  mutable plain<int> state;  ///< written by the worker that splits; represents the choice stack
  std::vector<test_task*> tasks;  ///< that splitting gives, the last first
};

/// The runtime. Made once; set_up of each program begins with reset().
class world {
 public:
  /// \param published settings::published_tasks
  static world& with(unsigned published);
  /// Restores the state before the first thread: no fiber runs, no worker searches, one entry is active.
  void reset();
  /// Entries are admitted again.
  void renew_entries();
  /// In a thread: the fiber has just been made, so others must not see it before its maker has published it.
  void make_anew(unsigned fiber);
  /// The worker runs this fiber; its limit is raised, as after a request, if `raised`.
  void run(unsigned worker, unsigned fiber, bool raised);

  detail::worker& worker(unsigned i) { return core->workers[i]; }
  detail::fiber& fiber(unsigned i) { return *fibers[i]; }
  /// A choice point at the bottom of the fiber's choice stack.
  test_choice_point& bottom(unsigned fiber);
  bool is_raised(unsigned fiber);

  std::unique_ptr<detail::whole_runtime> core;
  std::vector<detail::fiber*> fibers;

 private:
  explicit world(unsigned published);
};

/// Polls at the choice point as a fork does at its entry. \return whether the poll was slow
bool poll(test_choice_point& r);

/// The programs of a protocol.
std::vector<program> polling_programs();
std::vector<program> requesting_programs();
std::vector<program> slot_programs();
std::vector<program> joining_programs();
std::vector<program> parking_programs();
std::vector<program> suspending_programs();
std::vector<program> ending_programs();
std::vector<program> entering_programs();

/// The known fact about an access: the weakest order with which all programs hold, while all others stay as
/// they are.
struct known_order {
  std::string file;
  std::string access;  ///< as name_of() says
  std::memory_order needed;
};

/// Compares the table with the accesses of these files that the programs execute and that are not relaxed.
/// Each order weaker than the needed one must make a program fail. \return the differences, one sentence each
std::vector<std::string> check_faults(const std::vector<program>& programs,
                                      const std::vector<known_order>& table);
/// With the needed orders instead of the written ones all programs must hold. \return the failures
std::vector<std::string> check_needed(const std::vector<program>& programs,
                                      const std::vector<known_order>& table);

}  // namespace sukima::memory
