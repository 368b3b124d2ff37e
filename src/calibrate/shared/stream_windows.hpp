// SPDX-License-Identifier: Apache-2.0
// The time of a message of a stream between two CPUs, measured in windows.
//
// If the kernel runs another program on one of the two CPUs, the stream stands still for milliseconds, in
// which thousands of messages could pass. The mean over a whole stream was 45 µs a message on a busy machine,
// 450 times as much as on an idle one. Such a pause makes one window long. The median window has none.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace sukima::calibrate_detail {

/// Windows of a stream. Each has several times as many messages as a ring has room for, so that it has the
/// waits for room, too. A pipe has room for more messages than a window: its windows differ more.
inline constexpr std::size_t windows_of_stream = 25;

/// Receives a stream.
/// \param receive function that receives so many messages; false: the sender has ended
/// \param now function that returns the time
/// \returns nanoseconds of a message in the median window; nothing: the sender has ended too early
/// \par Complexity linear in the messages
template <class Receive, class Now>
std::optional<double> time_of_message(std::size_t messages, Receive receive, Now now) {
  const std::size_t length = std::max<std::size_t>(1, messages / windows_of_stream);
  std::vector<double> windows;
  auto begin = now();
  for (std::size_t received = 0; received < messages;) {
    const std::size_t count = std::min(length, messages - received);
    if (!receive(count)) return std::nullopt;
    const auto end = now();
    windows.push_back(std::chrono::duration<double, std::nano>(end - begin).count() /
                      static_cast<double>(count));
    begin = end;
    received += count;
  }
  const auto middle = windows.begin() + static_cast<std::ptrdiff_t>(windows.size() / 2);
  std::nth_element(windows.begin(), middle, windows.end());
  return *middle;
}

}  // namespace sukima::calibrate_detail
