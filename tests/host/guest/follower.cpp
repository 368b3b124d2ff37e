// SPDX-License-Identifier: Apache-2.0
// sukima-follower: a parallel program in a guest. It follows the number that the host advertises, reports its
// progress to the guest service, and prints five times a second a line of JSON: its clock, the CPUs that are
// online, the number in force (null: none) and its workers.
#include <unistd.h>

#include <sukima/capacity/estimate.h>
#include <sukima/capacity/progress.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <sukima/sukima.hpp>
#include <thread>

namespace {

using namespace std::chrono_literals;

constexpr auto between_lines = 200ms;

std::atomic<unsigned long> done = 0;

long count(sukima::context c, int depth) {
  if (depth == 0) return 1;
  auto [a, b] = sukima::fork2(
      c, [=](sukima::context below) { return count(below, depth - 1); },
      [=](sukima::context below) { return count(below, depth - 1); });
  return a + b;
}

[[noreturn]] void work(sukima::runtime& on) {
  for (;;) {
    on.run([](sukima::context c) { return count(c, 15); });
    ++done;
    sukima_progress_add(1);
  }
}

}  // namespace

int main() {
  sukima::settings chosen = sukima::settings::from_environment();
  chosen.workers = static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN));
  chosen.elastic = true;
  sukima::runtime on(chosen);
  std::thread(work, std::ref(on)).detach();
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    std::this_thread::sleep_for(between_lines);
    const double advertised = sukima_capacity_advertised(nullptr);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const std::string number = std::isnan(advertised) ? "null" : std::to_string(advertised);
    std::printf("{\"seconds\": %.2f, \"online\": %ld, \"number\": %s, \"workers\": %u, \"done\": %lu}\n",
                seconds, ::sysconf(_SC_NPROCESSORS_ONLN), number.c_str(), on.workers_now(), done.load());
    std::fflush(stdout);
  }
}
