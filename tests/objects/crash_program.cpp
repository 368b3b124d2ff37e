// SPDX-License-Identifier: Apache-2.0
// A program of seven processes of which one is killed at a random moment: crash_program SEED FILE. Prints
// each message that was lost, duplicated or reordered; exits with 0 if there is none. FILE counts the
// messages that each sender's `send` accepted.
#include <sukima/objects.hpp>
#include <sukima/sukima.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using sukima::objects::capacity;
using sukima::objects::in;
using sukima::objects::out;
using sukima::objects::program;

constexpr int messages = 3000;
struct message {
  int sender;
  int number;
};

/// In a file that all processes map: how many messages each sender's `send` has accepted.
struct accepted {
  std::atomic<int> of[4];
};
accepted* sent = nullptr;
std::atomic<int> wrong{0};

void complain(const char* complaint, int sender, int number) {
  std::printf("%s: sender %d, message %d\n", complaint, sender, number);
  ++wrong;
}

void count_up(out<message> to, int sender) {
  for (int i = 0; i < messages; ++i) {
    to.send({sender, i});
    sent->of[sender].store(i + 1);
  }
}

/// Each sender's messages come in order, without a gap, and all that were accepted.
void check_all(in<message> from, int first, int senders) {
  std::vector<int> next(4, 0);
  bool failed = false;
  try {
    for (const message& m : from) {
      if (m.number != next[static_cast<std::size_t>(m.sender)])
        complain("not the next one", m.sender, m.number);
      next[static_cast<std::size_t>(m.sender)] = m.number + 1;
    }
  } catch (const sukima::objects::stream_failed&) {
    failed = true;
  }
  for (int s = first; s < first + senders; ++s) {
    const int got = next[static_cast<std::size_t>(s)];
    if (got < sent->of[s].load()) complain("accepted, but not received", s, got);
    if (!failed && got != messages) complain("the last one", s, got);
  }
}

/// One message goes to one receiver. A receiver that dies takes at most one with it.
void check_pool(in<message> from) {
  std::set<int> seen;
  bool failed = false;
  try {
    for (const message& m : from)
      if (!seen.insert(m.number).second) complain("twice", m.sender, m.number);
  } catch (const sukima::objects::stream_failed&) {
    failed = true;
  }
  if (static_cast<int>(seen.size()) < messages - (failed ? 1 : 0))
    complain("of a pool", 0, static_cast<int>(seen.size()));
}

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream list(task.path() / "children");
    for (pid_t id = 0; list >> id;) found.push_back(id);
  }
  return found;
}

/// Kills one of the processes, some time after all were started.
void kill_one(unsigned seed, const std::atomic<bool>& over) {
  std::mt19937 random(seed);
  std::vector<pid_t> all;
  while ((all = children()).size() < 7 && !over) std::this_thread::yield();
  if (all.size() != 7) return;
  const auto delay = std::chrono::microseconds(random() % 60000);
  // A pidfd, because the PID may have been reused by then.
  const auto victim = static_cast<int>(syscall(SYS_pidfd_open, all[random() % all.size()], 0));
  std::this_thread::sleep_for(delay);
  syscall(SYS_pidfd_send_signal, victim, SIGKILL, nullptr, 0);
  close(victim);
}

}  // namespace

int main(int argc, char** argv) {
  program p(argc, argv);
  if (argc != 3) return 2;
  const int file = open(argv[2], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof(accepted)) != 0) return 2;
  sent = static_cast<accepted*>(mmap(nullptr, sizeof(accepted), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  if (sent == MAP_FAILED) return 2;

  auto first = p.stream<message>("first", capacity{4});
  auto second = p.stream<message>("second", capacity{16});
  const auto pass_on = [](in<message> from, out<message> to) {
    for (const message& m : from) to.send(m);
  };
  p.object("source", count_up, first.out(), 0);
  p.object("relay", pass_on, first.in(), second.out());
  p.object(
       "end",
       [](in<message> from) {
         int next = 0;
         try {
           for (const message& m : from)
             if (m.number != next++) complain("not the next one", 0, m.number);
           if (next != messages) complain("the last one", 0, next);
         } catch (const sukima::objects::stream_failed&) {
         }
       },
       second.in())
      .at_home();

  auto many = p.stream<message>("many", capacity{8});
  auto sender = many.out();
  p.object("sender 1", count_up, sender.share(), 1);
  p.object("sender 2", count_up, sender.share(), 2);
  p.object("sender 3", count_up, std::move(sender), 3);
  p.object("all", check_all, many.in(), 1, 3).at_home();

  auto work = p.stream<message>("work", capacity{8});
  auto results = p.stream<message>("results", capacity{8});
  p.object(
       "work",
       [](out<message> to) {
         for (int i = 0; i < messages; ++i) to.send({0, i});
       },
       work.out())
      .at_home();
  auto result = results.out();
  p.object("worker 1", pass_on, work.in(), result.share());
  p.object("worker 2", pass_on, work.in(), std::move(result));
  p.object("pool", check_pool, results.in()).at_home();

  if (p.is_child()) p.run();
  std::atomic<bool> over{false};
  std::jthread killer([&] { kill_one(static_cast<unsigned>(std::atoi(argv[1])), over); });
  try {
    p.run();
  } catch (const sukima::objects::object_failed& e) {
    if (std::string(e.what()).find("was killed by signal 9") == std::string::npos) {
      std::printf("%s\n", e.what());
      ++wrong;
    }
  }
  over = true;
  return wrong == 0 ? 0 : 1;
}
