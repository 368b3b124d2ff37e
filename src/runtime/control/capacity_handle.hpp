// SPDX-License-Identifier: Apache-2.0
// What the machine lets the runtime use, read once and followed from then on.
#pragma once

#include <sukima/capacity.h>

#include <memory>

namespace sukima::detail {

struct close_capacity {
  void operator()(sukima_capacity* opened) const noexcept { sukima_capacity_close(opened); }
};
using capacity_handle = std::unique_ptr<sukima_capacity, close_capacity>;

/// Reads what the calling thread may use: that the runtime pins threads later is no limit. Costs some 0.1 ms.
/// \return null: no memory
inline capacity_handle open_capacity() noexcept {
  sukima_capacity_options options{};
  options.affinity = SUKIMA_CAPACITY_AT_OPEN;
  return capacity_handle(sukima_capacity_open(&options));
}

}  // namespace sukima::detail
