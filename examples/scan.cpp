// SPDX-License-Identifier: Apache-2.0
// parallel_scan: running totals; parallel_exclusive_scan: where each part of a text begins.
#include <sukima/sukima.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

int main() {
  const std::vector<int> days(365, 1);
  std::vector<int> totals(days.size());
  sukima::parallel_scan(days, totals.begin());

  // Place each word in one long text: all of them at once, because each knows where it begins.
  const std::vector<std::string> words{"so ", "many ", "parts ", "make ", "one ", "text"};
  std::vector<std::size_t> lengths(words.size());
  std::vector<std::size_t> begins(words.size());
  sukima::parallel_for(std::size_t{0}, words.size(), [&](std::size_t i) { lengths[i] = words[i].size(); });
  sukima::parallel_exclusive_scan(lengths, begins.begin(), std::size_t{0});
  std::string text(begins.back() + lengths.back(), '.');
  sukima::parallel_for(std::size_t{0}, words.size(), [&](std::size_t i) {
    std::copy(words[i].begin(), words[i].end(), text.begin() + static_cast<std::ptrdiff_t>(begins[i]));
  });
  std::printf("%d: %s\n", totals.back(), text.c_str());
}
