// SPDX-License-Identifier: Apache-2.0
// The time per message of a stream between two CPUs, measured in windows.
//
// If the kernel runs another program on one of the two CPUs, the stream stops for milliseconds, in which
// thousands of messages could pass. On a busy machine, the mean over a whole stream was 45 µs per message,
// 450 times that of an idle machine. Such a pause makes only one window long, and the median window has none.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace sukima::calibrate_detail {

/// The number of windows of a stream. A window has several times as many messages as a ring has room for, so
/// it includes the waits for room. A pipe has room for more messages than a window, so its windows differ
/// more.
inline constexpr std::size_t windows_of_stream = 25;

/// Receives a stream.
/// \param receive receives the given number of messages; returns false if the sender has ended
/// \param now returns the time
/// \returns nanoseconds per message in the median window; nothing if the sender ended too early
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
