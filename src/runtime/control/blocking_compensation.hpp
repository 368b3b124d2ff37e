// SPDX-License-Identifier: Apache-2.0
// Workers that run in place of those that wait outside of the runtime (sukima/blocking.hpp).
#pragma once

#include <atomic>

namespace sukima::detail {

struct runtime_core;

class blocking_compensation {
 public:
  explicit blocking_compensation(runtime_core& core) : core_(core) {}
  blocking_compensation(const blocking_compensation&) = delete;
  blocking_compensation& operator=(const blocking_compensation&) = delete;

  /// A worker waits outside from now on: one more may run. \throws std::system_error, std::bad_alloc
  void begin();
  void end() noexcept;
  /// So many workers run in place of blocked ones. More waits than `tuning::most_compensated` get none: it
  /// would be a thread for each of a crowd.
  unsigned workers() const noexcept;

 private:
  runtime_core& core_;
  std::atomic<unsigned> blocked_{0};
};

}  // namespace sukima::detail
