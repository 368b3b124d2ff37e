// SPDX-License-Identifier: Apache-2.0
// The decisions of the runtime itself, each with its reason.
#pragma once

#include <sukima/runtime.hpp>

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

namespace sukima::detail {

/// Any thread may add and read.
class decision_log {
 public:
  /// \param runtime_serial  of the runtime, for the trace
  explicit decision_log(std::uint64_t runtime_serial) : runtime_serial_(runtime_serial) {}
  decision_log(const decision_log&) = delete;
  decision_log& operator=(const decision_log&) = delete;

  /// Records a decision. Without memory it is not recorded, but takes effect nevertheless.
  void add(std::string_view setting, unsigned before, unsigned after, std::string_view reason) noexcept;
  /// The decisions, the oldest first; at least the latest 5,000.
  std::vector<decision> all() const;

 private:
  const std::uint64_t runtime_serial_;
  mutable std::mutex lock_;
  std::vector<decision> log_;
};

}  // namespace sukima::detail
