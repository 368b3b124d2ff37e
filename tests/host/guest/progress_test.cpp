// SPDX-License-Identifier: Apache-2.0
// What programs say of their progress by sukima_progress_add(), and what arrives at the host. Each program is
// a child, because what it has done belongs to its process.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sukima/capacity/progress.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <functional>
#include <thread>

#include "fake_machine.hpp"
#include "shared/guest.hpp"
#include "shared/inbox.hpp"
#include "sockets.hpp"

namespace {

using namespace sukima::host;
using sukima::descriptor;

/// A program, which ends with the test.
class program {
 public:
  program(const guests::fs::path& socket, const std::function<void()>& body) : child_(::fork()) {
    if (child_ != 0) return;
    ::setenv("SUKIMA_GUEST_SOCKET", socket.c_str(), 1);
    body();
    ::_exit(0);
  }
  ~program() {
    ::kill(child_, SIGKILL);
    end();
  }
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  /// Waits for its end. \returns its exit code
  int end() {
    int status = 0;
    if (ended_) return -1;
    ended_ = true;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t child_;
  bool ended_ = false;
};

/// Counts until it is killed.
[[noreturn]] void count() {
  for (;;) {
    sukima_progress_add(3);
    ::usleep(1000);
  }
}

/// The next numbers that come; nothing if the connection ends.
std::vector<double> numbers(const descriptor& end, std::size_t wanted) {
  guest_inbox inbox;
  std::vector<double> all;
  double now = 0;
  while (all.size() < wanted) {
    std::array<char, 4096> bytes{};
    const ssize_t count = ::recv(end.get(), bytes.data(), bytes.size(), 0);
    if (count <= 0) break;
    inbox.feed({bytes.data(), static_cast<std::size_t>(count)}, now += 1);
    for (const guest_message& one : inbox.take()) {
      EXPECT_TRUE(one.progress && !one.want && !one.online && !one.turn);
      all.push_back(one.progress.value_or(-1));
    }
  }
  EXPECT_EQ(inbox.seen().malformed, 0U);
  if (all.size() > wanted) all.resize(wanted);  // one read may bring several
  return all;
}

class progress_of_programs : public testing::Test {
 protected:
  guests::folder folder;
  guests::fs::path socket = folder.path / "guest.sock";
};

TEST_F(progress_of_programs, is_reported_and_grows) {
  const descriptor listening = guests::listen_at(socket);
  const program one(socket, count);
  const descriptor end = guests::accept_at(listening);
  const auto all = numbers(end, 3);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0], 3);
  EXPECT_LT(all[0], all[1]);
  EXPECT_LT(all[1], all[2]);
  for (const double number : all) EXPECT_EQ(std::fmod(number, 3), 0);
}

TEST_F(progress_of_programs, is_the_sum_of_all_threads) {
  const descriptor listening = guests::listen_at(socket);
  program one(socket, [] {
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 4; ++i)
        threads.emplace_back([] {
          for (int k = 0; k < 10000; ++k) sukima_progress_add(1);
        });
    }
    // The last report is the sum, whenever it comes.
    for (;;) {
      sukima_progress_add(0);
      ::usleep(1000);
    }
  });
  const descriptor end = guests::accept_at(listening);
  std::size_t messages = 0;
  for (double last = 0; last < 40000; ++messages) {
    const auto all = numbers(end, 1);
    ASSERT_EQ(all.size(), 1U);
    last = all[0];
    EXPECT_LE(last, 40000);
  }
  EXPECT_LT(messages, 40000U);  // few of the calls say something
}

TEST_F(progress_of_programs, comes_again_after_the_service_was_started_anew) {
  descriptor listening = guests::listen_at(socket);
  const program one(socket, count);
  descriptor end = guests::accept_at(listening);
  const auto before = numbers(end, 1);
  end.reset();
  listening.reset();
  listening = guests::listen_at(socket);
  end = guests::accept_at(listening);
  const auto after = numbers(end, 1);
  ASSERT_EQ(before.size() + after.size(), 2U);
  EXPECT_LT(before[0], after[0]);
}

TEST_F(progress_of_programs, of_a_child_has_its_own_connection) {
  const descriptor listening = guests::listen_at(socket);
  const program one(socket, [] {
    sukima_progress_add(1000);
    if (::fork() == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    count();
  });
  const descriptor first = guests::accept_at(listening), second = guests::accept_at(listening);
  EXPECT_EQ(numbers(first, 2).size(), 2U);
  const auto of_the_child = numbers(second, 1);
  ASSERT_EQ(of_the_child.size(), 1U);
  EXPECT_GT(of_the_child[0], 1000);
}

TEST_F(progress_of_programs, never_goes_to_a_file_that_has_the_sockets_number_now) {
  const descriptor listening = guests::listen_at(socket);
  const auto file = folder.path / "file";
  program one(socket, [&] {
    sukima_progress_add(1);
    // As a daemon does, which closes all that it does not know.
    for (int number = 3; number < 64; ++number) ::close(number);
    for (int i = 0; i < 61; ++i) ::open(file.c_str(), O_RDWR | O_CREAT, 0600);
    ::usleep(300000);
    sukima_progress_add(1);
    ::_exit(0);
  });
  const descriptor first = guests::accept_at(listening), second = guests::accept_at(listening);
  EXPECT_EQ(numbers(first, 2), std::vector<double>{1});
  EXPECT_EQ(numbers(second, 2), std::vector<double>{2});
  one.end();
  EXPECT_EQ(guests::text_in(file), "");
}

TEST_F(progress_of_programs, without_a_service_costs_nothing_but_the_call) {
  for (const auto& path : {socket, guests::fs::path(), guests::fs::path(std::string(200, 'x'))}) {
    program one(path, [] {
      errno = 77;
      for (int i = 0; i < 1000; ++i) sukima_progress_add(1);
      ::_exit(errno == 77 ? 0 : 1);
    });
    EXPECT_EQ(one.end(), 0);
  }
}

TEST_F(progress_of_programs, reaches_the_host_through_the_service) {
  guests::fake_machine machine(2);
  const auto port = machine.root() / "port";
  const descriptor listening = guests::listen_at(port);
  // The programs first: a fork beside a thread would be no clean one.
  const program one(machine.root() / "run/sukima/guest.sock", count);
  const program two(machine.root() / "run/sukima/guest.sock", count);
  std::atomic<bool> stopped = false;
  std::thread service(
      [&] { run_guest({.root = machine.root(), .port = port}, stopped, [](const std::string&) {}); });
  {
    const descriptor host = guests::accept_at(listening);
    guest_inbox inbox;
    double now = 0;
    std::optional<double> first, last;
    while (!first || *last <= *first) {
      inbox.feed(guests::wait_for(host, "end\n"), now += 1);
      for (const guest_message& message : inbox.take()) {
        if (message.progress && !first) first = message.progress;
        if (message.progress) last = message.progress;
      }
    }
  }
  stopped = true;
  service.join();
}

}  // namespace
