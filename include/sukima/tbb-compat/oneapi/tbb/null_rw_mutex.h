// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sukima/detail/tbb/locks.hpp>
#include <sukima/detail/tbb/names.hpp>

namespace tbb {
class null_rw_mutex : public ::sukima::detail::tbb::no_lock {
 public:
  using scoped_lock = ::sukima::detail::tbb::scoped_shared_lock_of<null_rw_mutex>;
  static constexpr bool is_rw_mutex = true;
};
}  // namespace tbb
