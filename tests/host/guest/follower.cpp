// SPDX-License-Identifier: Apache-2.0
// sukima-follower: a parallel program in a guest. It follows the number that the host advertises, reports its
// progress to the guest service, and prints five times a second a line of JSON: its clock, the CPUs that are
// online, the number in force (null: none) and its workers.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <sukima/capacity/estimate.h>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>
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
  }
}

/// A connection to the guest service, or -1: it is not there yet.
int connect_to_service() {
  const int service = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = "/run/sukima/guest.sock"};
  if (::connect(service, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return service;
  ::close(service);
  return -1;
}

void report(int& service) {
  if (service < 0) service = connect_to_service();
  if (service < 0) return;
  char text[80];
  const int length = std::snprintf(text, sizeof text, "sukima-guest 1\nprogress %lu\nend\n", done.load());
  if (::send(service, text, static_cast<std::size_t>(length), MSG_NOSIGNAL) == length) return;
  ::close(service);
  service = -1;
}

}  // namespace

int main() {
  sukima::settings chosen = sukima::settings::from_environment();
  chosen.workers = static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN));
  chosen.elastic = true;
  sukima::runtime on(chosen);
  std::thread(work, std::ref(on)).detach();
  int service = -1;
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    std::this_thread::sleep_for(between_lines);
    report(service);
    const double advertised = sukima_capacity_advertised(nullptr);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const std::string number = std::isnan(advertised) ? "null" : std::to_string(advertised);
    std::printf("{\"seconds\": %.2f, \"online\": %ld, \"number\": %s, \"workers\": %u, \"done\": %lu}\n",
                seconds, ::sysconf(_SC_NPROCESSORS_ONLN), number.c_str(), on.workers_now(), done.load());
    std::fflush(stdout);
  }
}
