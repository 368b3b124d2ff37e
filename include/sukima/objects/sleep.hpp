// SPDX-License-Identifier: Apache-2.0
// sleep_for and sleep_until: objects that let time pass.
#pragma once

#include <sukima/objects/times.hpp>

#include <chrono>

namespace sukima::objects {
namespace detail {
void sleep_until(clock::time_point until);
}

/// \addtogroup objects
/// @{

/// Lets the object sleep. Other objects of its group run in the meantime. A length that is not above 0 ends
/// at once; more than a century counts as a century.
/// \throws usage_error if the caller is not an object; aborted if the program is aborted
/// \par Complexity logarithmic in the number of waits that have a time
template <class Rep, class Period> void sleep_for(std::chrono::duration<Rep, Period> length) {
  detail::sleep_until(detail::end_of_wait(length));
}
/// The same until that time.
inline void sleep_until(std::chrono::steady_clock::time_point until) { detail::sleep_until(until); }

/// @}
}  // namespace sukima::objects
