// SPDX-License-Identifier: Apache-2.0
// The CPUs that the machine lets the runtime use. They are read once, and followed from then on.
#pragma once

#include <sukima/capacity.h>

#include <memory>

namespace sukima::detail {

struct close_capacity {
  void operator()(sukima_capacity* opened) const noexcept { sukima_capacity_close(opened); }
};
using capacity_handle = std::unique_ptr<sukima_capacity, close_capacity>;

/// Reads how many CPUs the calling thread may use. Threads that the runtime pins later do not limit this.
/// Takes about 0.1 ms.
/// \return null: no memory
inline capacity_handle open_capacity() noexcept {
  sukima_capacity_options options{};
  options.affinity = SUKIMA_CAPACITY_AT_OPEN;
  return capacity_handle(sukima_capacity_open(&options));
}

}  // namespace sukima::detail
