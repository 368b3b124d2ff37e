// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sukima/detail/tbb/locks.hpp>
#include <sukima/detail/tbb/names.hpp>

namespace tbb {
class null_mutex : public ::sukima::detail::tbb::no_lock {
 public:
  using scoped_lock = ::sukima::detail::tbb::scoped_lock_of<null_mutex>;
  static constexpr bool is_rw_mutex = false;
};
}  // namespace tbb
