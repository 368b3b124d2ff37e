// SPDX-License-Identifier: Apache-2.0
// Kills what acts at random moments, with fresh seeds: nothing stays capped or offline after the next start.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <iostream>
#include <random>

#include "fake_machine.hpp"
#include "shared/act.hpp"
#include "shared/guest.hpp"
#include "sockets.hpp"

namespace {

using namespace sukima::host;

constexpr int moments = 20;

/// Kills the child after up to 50 ms, and waits for its end.
void kill_soon(pid_t child, std::mt19937_64& random) {
  ::usleep(static_cast<useconds_t>(random() % 50000));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

std::uint64_t seed() {
  const std::uint64_t fresh = std::random_device()();
  std::cout << "seed " << fresh << "\n";
  return fresh;
}

TEST(kill, of_the_acting_program_leaves_what_revert_undoes) {
  std::mt19937_64 random(seed());
  const guests::folder folder;
  const auto cap = folder.path / "cpu.max", file = folder.path / "journal";
  guests::write(cap, "max 100000\n");
  for (int i = 0; i < moments; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      journal written(file);
      actor one(written);
      const auto by = make_control_file(cap);
      for (unsigned step = 1;; ++step) {
        one.verify(*by, one.apply(*by, "a", act_kind::cap, std::to_string(step * 1000) + " 100000", 1), 1);
        if (step % 5 == 0) revert(written);
      }
    }
    kill_soon(child, random);
    // A file that is not a control file may be caught between its truncation and its write; the kernel's
    // cannot.
    if (guests::text_in(cap).empty()) guests::write(cap, "max 100000\n");
    journal written(file);
    revert(written);
    EXPECT_TRUE(written.in_effect().empty());
    EXPECT_EQ(guests::text_in(cap), "max 100000\n");
  }
}

TEST(kill, of_the_guest_service_leaves_what_the_next_one_brings_back) {
  std::mt19937_64 random(seed());
  guests::fake_machine machine(4);
  const auto path = machine.root() / "port";
  for (int i = 0; i < moments; ++i) {
    const auto listening = guests::listen_at(path);
    const pid_t child = ::fork();
    if (child == 0) {
      const std::atomic<bool> stopped = false;
      run_guest({.root = machine.root(), .port = path}, stopped, [](const std::string&) {});
      ::_exit(0);
    }
    const auto host = guests::accept_at(listening);
    // One number in each life: the made-up kernel's list of CPUs does not follow the switches by itself.
    guests::send_to(host,
                    text_of(host_message{.usable = 1, .vcpus = 1 + static_cast<unsigned>(random() % 3)}));
    kill_soon(child, random);
    // As above: the kernel's switches are never empty.
    for (unsigned cpu = 1; cpu < 4; ++cpu)
      if (guests::text_in(machine.switch_of(cpu)).empty()) guests::write(machine.switch_of(cpu), "0\n");
    machine.settle();
    const guest_service next(machine.root());
    machine.settle();
    EXPECT_EQ(machine.on(), "0-3");
    EXPECT_FALSE(guests::fs::exists(machine.state()));
  }
}

}  // namespace
