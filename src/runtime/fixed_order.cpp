// SPDX-License-Identifier: Apache-2.0
#include <sukima/detail/fixed_order.hpp>

namespace sukima::detail {

atomic<bool> combines_in_fixed_order{false};

}  // namespace sukima::detail
