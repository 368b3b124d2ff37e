// SPDX-License-Identifier: Apache-2.0
// The team of sleeping threads. This file has the functions that it needs of the other preloaded files, and a
// runtime whose threads leave late, as they do if they have to wait for CPUs.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

extern "C" {
#include "at_fork.h"
#include "decision.h"
#include "next_function.h"
#include "oversubscription_team.h"
#include "own_thread.h"
}

namespace {

std::atomic<int> inside{0};  // threads of the team that sleep
std::atomic<int> teams_ended{0};
std::atomic<bool> may_leave{false};

template <class F> bool becomes_true(F holds) {
  for (int i = 0; i < 10'000 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return holds();
}

void play_parallel(void (*body)(void*), void* data, unsigned /*threads*/, unsigned /*flags*/) {
  ++inside;
  body(data);
  --inside;
  EXPECT_TRUE(becomes_true([] { return may_leave.load(); }));
  ++teams_ended;
}

}  // namespace

extern "C" {
bool preload_at_fork(void (* /*child*/)(void)) { return true; }
bool preload_start_thread(void* (*run)(void*)) {
  std::thread(run, nullptr).detach();
  return true;
}
preload_function* preload_find_function(const char* /*name*/, const void* /*caller*/) {
  return reinterpret_cast<preload_function*>(&play_parallel);
}
const preload_settings* preload_current_settings() {
  static const preload_settings settings{};
  return &settings;
}
}

namespace {

TEST(oversubscription_team, is_there_again_if_it_is_wanted_while_it_leaves) {
  oversubscription_team_begin(nullptr);
  EXPECT_TRUE(becomes_true([] { return inside == 1; }));
  oversubscription_team_end();
  EXPECT_TRUE(becomes_true([] { return inside == 0; }));
  oversubscription_team_begin(nullptr);
  may_leave = true;
  EXPECT_TRUE(becomes_true([] { return inside == 1; }));
  oversubscription_team_end();
  EXPECT_TRUE(becomes_true([] { return inside == 0 && teams_ended == 2; }));
}

}  // namespace
