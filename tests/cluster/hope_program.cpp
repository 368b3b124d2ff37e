// SPDX-License-Identifier: Apache-2.0
// A program for several nodes under hierarchical omission that kills its own nodes: hope_program SEED ENTRIES
//
// It prints the results of so many random entries, and on stderr "result SUM OMITTED", where SUM is of all
// results. HOPE_PROGRAM_DIES says which nodes die and when, as NODE:STEP:COUNT,…; STEP is
//   time     after so many microseconds
//   send     before the COUNTth call that sends into a socket, as all that the cluster sends is
//   receive  after the COUNTth one that has received something
//   entry    before its COUNTth entry
//   task     in the COUNTth leaf that it computes
//   print    in the COUNTth piece of output, of which a half is written
//
// With HOPE_PROGRAM_STOPS they only stand still then, until they get SIGCONT.
#include "random_programs.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

namespace {

using namespace random_programs;

enum class step : unsigned { time, send, receive, entry, task, print, count };
constexpr std::array<std::string_view, static_cast<std::size_t>(step::count)> names{
    "time", "send", "receive", "entry", "task", "print"};

/// When this node dies, by step; 0: never.
std::array<unsigned long, names.size()> deaths{};
/// Each counts by itself, and nothing else depends on it: relaxed.
std::array<std::atomic<unsigned long>, names.size()> passed{};

void die() {
  static const int how = std::getenv("HOPE_PROGRAM_STOPS") != nullptr ? SIGSTOP : SIGKILL;
  kill(getpid(), how);
}
bool is_death(step s) noexcept {
  const auto i = static_cast<std::size_t>(s);
  return passed[i].fetch_add(1, std::memory_order_relaxed) + 1 == deaths[i];
}

unsigned long number(std::string_view text) {
  unsigned long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) std::abort();
  return value;
}
std::string_view cut(std::string_view& text, char at) {
  const std::string_view part = text.substr(0, text.find(at));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

void read_deaths(std::uint32_t node) {
  const char* const given = std::getenv("HOPE_PROGRAM_DIES");
  std::string_view rest = given != nullptr ? given : "";
  while (!rest.empty()) {
    std::string_view one = cut(rest, ',');
    if (number(cut(one, ':')) != node) continue;
    const std::string_view name = cut(one, ':');
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == name) deaths[i] = number(one);
  }
  if (const unsigned long time = deaths[static_cast<std::size_t>(step::time)]; time != 0) {
    sigevent told{};
    told.sigev_notify = SIGEV_SIGNAL;
    told.sigev_signo = SIGKILL;
    timer_t timer{};
    itimerspec when{};
    when.it_value = {static_cast<time_t>(time / 1000000), static_cast<long>(time % 1000000 * 1000)};
    if (timer_create(CLOCK_MONOTONIC, &told, &timer) != 0 || timer_settime(timer, 0, &when, nullptr) != 0)
      std::abort();
  }
}

ssize_t received(ssize_t size) {
  if (size > 0 && is_death(step::receive)) die();
  return size;
}

void print(std::string_view text) {
  if (is_death(step::print)) {
    const ssize_t put = write(STDOUT_FILENO, text.data(), text.size() / 2);
    die();
    text.remove_prefix(put > 0 ? static_cast<std::size_t>(put) : 0);
  }
  while (!text.empty()) {
    const ssize_t put = write(STDOUT_FILENO, text.data(), text.size());
    if (put <= 0) std::abort();
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

std::uint64_t counted_leaf(sukima::context c, spec s, unsigned i) {
  if (is_death(step::task)) die();
  std::uint64_t value = piece(c, child(s, i));
  for (unsigned turn = 0; turn < 100000; ++turn) value = mixed(value);
  return value;
}
/// A loop whose pieces travel, each with a random program in it.
std::uint64_t entry(sukima::context c, spec s) {
  return sukima::parallel_reduce(c, 0u, 40u, std::uint64_t{0}, call<counted_leaf>(s), std::plus{});
}

}  // namespace

// These go first to all that is linked into this program, Asio among it.
extern "C" {
ssize_t sendmsg(int to, const msghdr* what, int flags) {
  if (is_death(step::send)) die();
  return syscall(SYS_sendmsg, to, what, flags);
}
ssize_t send(int to, const void* what, size_t size, int flags) {
  if (is_death(step::send)) die();
  return syscall(SYS_sendto, to, what, size, flags, nullptr, 0);
}
ssize_t recvmsg(int from, msghdr* what, int flags) {
  return received(syscall(SYS_recvmsg, from, what, flags));
}
ssize_t recv(int from, void* what, size_t size, int flags) {
  return received(syscall(SYS_recvfrom, from, what, size, flags, nullptr, nullptr));
}
}

int main(int count, char** words) {
  if (count != 3) return 2;
  read_deaths(sukima::cluster::this_node());
  const unsigned long seed = number(words[1]);
  const unsigned long entries = number(words[2]);
  std::uint64_t sum = 0;
  for (unsigned long i = 0; i < entries; ++i) {
    if (is_death(step::entry)) die();
    const std::uint64_t value = sukima::cluster::run(call<entry>(spec{mixed(seed * 100 + i), 4}));
    sum = combined(sum, value);
    print("entry " + std::to_string(i) + ": " + std::to_string(value) + "\n");
    // Some of it is more than a pipe takes.
    std::string more;
    for (std::uint64_t n = mixed(sum) % 3 * 4000; n != 0; --n) more += std::to_string(mixed(n)) + '\n';
    print(more);
  }
  std::fprintf(stderr, "result %llu %llu\n", static_cast<unsigned long long>(sum),
               static_cast<unsigned long long>(sukima::cluster::statistics().omitted));
}
