// SPDX-License-Identifier: Apache-2.0
// Cuts the output of QEMU's monitor into JSON objects; see qmp_objects.hpp.
#include "source/qmp_objects.hpp"

#include <algorithm>

namespace sukima::host {
namespace {

/// The longest answer in bytes. An answer about 65,536 virtual CPUs has about 20 MiB.
constexpr std::size_t longest_answer = std::size_t{1} << 25;
constexpr int deepest_answer = 64;

}  // namespace

std::string qmp_objects::feed(std::string_view bytes, const std::function<bool(std::string_view)>& take) {
  received_ += bytes;
  std::size_t begin = 0;  // of the object that is being scanned
  bool goes_on = true;
  for (; scanned_ < received_.size() && goes_on; ++scanned_) {
    const char c = received_[scanned_];
    if (in_string_) {
      if (!after_backslash_ && c == '"') in_string_ = false;
      after_backslash_ = !after_backslash_ && c == '\\';
      continue;
    }
    if (c == '"') in_string_ = true;
    if ((c == '{' || c == '[') && ++depth_ > deepest_answer) return "its answer is nested too deeply";
    if (c != '}' && c != ']') continue;
    if (--depth_ < 0) return "it does not speak QMP";
    if (depth_ > 0) continue;
    goes_on = take(std::string_view(received_).substr(begin, scanned_ + 1 - begin));
    begin = scanned_ + 1;
  }
  received_.erase(0, begin);
  scanned_ -= std::min(begin, scanned_);
  return goes_on && received_.size() > longest_answer ? "its answer is longer than 32 MiB" : "";
}

}  // namespace sukima::host
