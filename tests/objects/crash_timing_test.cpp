// SPDX-License-Identifier: Apache-2.0
// How soon the peers of a process notice that it was killed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

/// Microseconds from the victim's last message to its reader's exception.
double time_to_hear(const char* model) {
  const std::string command = std::string("SUKIMA_OBJECTS=") + model + " '" PROCESSES_PROGRAM "' dies";
  FILE* const from = popen(command.c_str(), "r");
  if (from == nullptr) return -1;
  double microseconds = -1;
  if (std::fscanf(from, "%lf", &microseconds) != 1) microseconds = -1;
  pclose(from);
  return microseconds;
}

TEST(crash_timing, peers_learn_of_a_crash_within_100_ms) {
  for (const char* model : {"processes", "processes:pipe"}) {
    std::vector<double> times;
    for (int i = 0; i < 31; ++i) {
      times.push_back(time_to_hear(model));
      ASSERT_GE(times.back(), 0) << model;
    }
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    std::printf("%s: noticed a crash after %.0f us (median), %.0f us at most\n", model, median, times.back());
    EXPECT_LE(median, 100'000) << model;
  }
}

}  // namespace
