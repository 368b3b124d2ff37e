// SPDX-License-Identifier: Apache-2.0
// Programs whose objects can be processes, for processes_test.cpp: processes_program SCENARIO prints what
// came out.
#include <fcntl.h>
#include <sukima/objects.hpp>
#include <sukima/sukima.hpp>

#include <linux/filter.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <new>
#include <string>
#include <thread>

#include "text_codec.hpp"

constexpr std::size_t large_text = std::size_t{1} << 20;
static std::atomic<bool> next_large_fails{false};  ///< whether there is no memory for the next large text

void* operator new(std::size_t size) {
  void* const memory = size >= large_text && next_large_fails.exchange(false) ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace std::chrono_literals;
using sukima::objects::capacity;
using sukima::objects::in;
using sukima::objects::out;
using sukima::objects::program;
using sukima::objects::send_result;
using sukima::objects::stream_broken;
using sukima::objects::stream_failed;

constexpr auto no_limit = 1h;  // ctest ends a hang before

struct numbered {
  int sender;
  int number;
};

void count_up(out<numbered> to, int sender, int count) {
  for (int i = 0; i < count; ++i) to.send({sender, i});
}

/// Prints how many came of each sender, and what is not in order.
void check_order(in<numbered> from) {
  std::map<int, int> next;
  for (const numbered& m : from) {
    if (m.number < next[m.sender]) std::printf("%d again of %d\n", m.number, m.sender);
    next[m.sender] = m.number + 1;
  }
  for (const auto& [sender, count] : next) std::printf("%d: %d\n", sender, count);
}

/// As option parsers do, it takes away what it has understood.
void changes_its_arguments(program& p, char** argv) {
  auto s = p.stream<int>("s");
  const bool first = std::string(argv[1]) == "arguments";
  p.object("source", [first](out<int> to) { to.send(first ? 1 : 2); }, s.out());
  p.object("sink", [](in<int> from) { std::printf("%d\n", from.receive().value_or(0)); }, s.in()).at_home();
  static char other[] = "pipeline";
  argv[1] = other;
  p.run();
}

void pipeline(program& p) {
  auto raw = p.stream<int>("raw", capacity{4});
  auto good = p.stream<long>("good");
  p.object(
       "source",
       [](out<int> to) {
         std::vector<int> many(100);
         for (int i = 0; i < 100; ++i) {
           for (int k = 0; k < 100; ++k) many[static_cast<std::size_t>(k)] = i * 100 + k;
           to.send_all(many);
         }
       },
       raw.out())
      .group("a");
  p.object(
       "square",
       [](in<int> from, out<long> to) {
         int some[7];
         while (const std::size_t n = from.receive_some(some))
           for (std::size_t i = 0; i < n; ++i) to.send(long{some[i]} * some[i]);
       },
       raw.in(), good.out())
      .group("b");
  long sum = 0;
  p.object(
       "sink",
       [&sum](in<long> from) {
         for (long v : from) sum += v;
       },
       good.in())
      .at_home();
  p.run();
  std::printf("sum %ld\n", sum);
}

/// Five senders, of which two are in one group, and one receiver.
void fan_in(program& p) {
  auto s = p.stream<numbered>("s", capacity{8});
  auto first = s.out();
  for (int i = 1; i < 5; ++i)
    p.object("sender " + std::to_string(i), count_up, first.share(), i, 1000)
        .group(i < 3 ? "both" : "single " + std::to_string(i));
  p.object("sender 0", count_up, std::move(first), 0, 1000);
  p.object("sink", check_order, s.in()).at_home();
  p.run();
}

/// One sender and four receivers, of which two are in one group.
void fan_out(program& p) {
  auto s = p.stream<numbered>("s", capacity{8});
  auto t = p.stream<numbered>("t", capacity{8});
  p.object("source", count_up, s.out(), 0, 4000);
  auto results = t.out();
  for (int i = 1; i < 5; ++i)
    p.object(
         "worker " + std::to_string(i),
         [](in<numbered> from, out<numbered> to, int sender) {
           for (const numbered& m : from) to.send({sender, m.number});
         },
         s.in(), results.share(), i)
        .group(i < 3 ? "both" : "single " + std::to_string(i));
  p.object("last", [](out<numbered>) {}, std::move(results));
  p.object(
       "sink",
       [](in<numbered> from) {
         std::map<int, int> seen;
         std::map<int, int> last;
         long sum = 0;
         for (const numbered& m : from) {
           sum += m.number;
           if (++seen[m.number] > 1) std::printf("%d twice\n", m.number);
           if (m.number < last[m.sender]) std::printf("%d out of order\n", m.number);
           last[m.sender] = m.number;
         }
         std::printf("%zu, sum %ld\n", seen.size(), sum);
       },
       t.in())
      .at_home();
  p.run();
}

void selecting(program& p) {
  auto left = p.stream<int>("left", capacity{4});
  auto right = p.stream<int>("right", capacity{4});
  auto echo = p.stream<int>("echo", capacity{2});
  const auto send = [](out<int> to, int n) {
    for (int i = 0; i < n; ++i) to.send(i);
  };
  p.object("left", send, left.out(), 500);
  p.object("right", send, right.out(), 300);
  p.object(
      "echo",
      [](in<int> from) {
        int n = 0;
        while (from.receive()) ++n;
        if (n != 1000) throw std::runtime_error("echo got " + std::to_string(n));
      },
      echo.in());
  p.object(
       "merge",
       [](in<int> a, in<int> b, out<int> to) {
         int got[2] = {0, 0};
         int sent = 0;
         const auto served = [&](in<int>& from, int which) {
           return from.on([&, which](int) { ++got[which]; });
         };
         while (got[0] + got[1] < 800 || sent < 1000) {
           if (sent < 1000)
             sukima::objects::select(served(a, 0), served(b, 1), to.on_room(sent, [&] { ++sent; }));
           else
             sukima::objects::select(served(a, 0), served(b, 1));
         }
         std::printf("%d %d %d\n", got[0], got[1], sent);
       },
       left.in(), right.in(), echo.out())
      .at_home();
  p.run();
}

void with_times(program& p) {
  auto s = p.stream<int>("s", capacity{2});
  auto t = p.stream<int>("t", capacity{2});
  auto start = p.stream<int>("start");
  auto idle = p.stream<int>("idle");
  p.object(
       "here",
       [](in<int> from, out<int> to, out<int> go, out<int>) {
         const bool none = !from.receive_for(50ms) && !from.try_receive();
         int one = 1;
         const bool two = to.try_send(one) == send_result::sent && to.try_send(one) == send_result::sent;
         const bool full =
             to.try_send(one) == send_result::full && to.send_for(one, 50ms) == send_result::full;
         go.send(1);
         const bool later = to.send_for(one, no_limit) == send_result::sent;
         std::printf("%d %d %d %d %d\n", none, two, full, later, from.receive_for(no_limit).value_or(-1));
       },
       s.in(), t.out(), start.out(), idle.out())
      .at_home();
  p.object(
      "there",
      [](in<int> from, out<int> to, in<int> go, in<int> nothing) {
        nothing.receive_for(20ms);
        go.receive();
        int n = 0;
        while (from.receive()) {
          if (++n == 3) to.send(n);
        }
      },
      t.in(), s.out(), start.in(), idle.in());
  p.run();
}

/// Messages with a codec.
void texts(program& p, std::size_t room) {
  auto s = p.stream<text>("texts", capacity{room});
  auto t = p.stream<text>("back", capacity{2});
  p.object(
       "source",
       [](out<text> to) {
         for (std::size_t i = 0; i < 500; ++i)
           to.send({std::string(i * 37 % 5000, static_cast<char>('a' + i % 26))});
       },
       s.out())
      .group("source");
  p.object(
      "echo",
      [](in<text> from, out<text> to) {
        while (std::optional<text> m = from.receive())
          if (to.try_send(*m) != send_result::sent) sukima::objects::select(to.on_room(*m, [] {}));
      },
      s.in(), t.out());
  p.object(
       "sink",
       [](in<text> from) {
         std::size_t i = 0;
         for (const text& m : from) {
           if (m.value != std::string(i * 37 % 5000, static_cast<char>('a' + i % 26)))
             std::printf("text %zu of %zu bytes\n", i, m.value.size());
           ++i;
         }
         std::printf("%zu texts\n", i);
       },
       t.in())
      .at_home();
  p.run();
}

/// The second of three ends in that way after ten messages; the sink prints the messages that it received.
void fails(program& p, const std::string& how) {
  auto s = p.stream<int>("s", capacity{2});
  auto t = p.stream<int>("t", capacity{64});
  p.object(
      "source",
      [](out<int> to) {
        try {
          for (int i = 0;; ++i) to.send(i);
        } catch (const stream_broken&) {
          std::printf("source: broken\n");
        }
      },
      s.out());
  p.object(
       "culprit",
       [how](in<int> from, out<int> to) {
         for (int i = 0; i < 10; ++i) to.send(from.receive().value());
         if (how == "throws") throw std::domain_error("no more");
         if (how == "exits") _exit(3);
         if (how == "is killed") raise(SIGKILL);
         if (how == "aborts") std::abort();
       },
       s.in(), t.out())
      .group("c");
  p.object(
       "sink",
       [](in<int> from) {
         int n = 0;
         try {
           while (from.receive()) ++n;
           std::printf("sink: %d\n", n);
         } catch (const stream_failed& e) {
           std::printf("sink: %d, then %s\n", n, e.what());
         }
       },
       t.in())
      .at_home();
  auto u = p.stream<int>("u");
  p.object(
       "other",
       [](out<int> to) {
         for (int i = 0; i < 100000; ++i) to.send(i);
       },
       u.out())
      .group("o");
  p.object(
       "other sink",
       [](in<int> from) {
         int n = 0;
         while (from.receive()) ++n;
         std::printf("others: %d\n", n);
       },
       u.in())
      .at_home();
  p.run();
}

/// A process kills itself; prints after how many microseconds its reader notices that.
void dies(program& p) {
  using clock = std::chrono::steady_clock;  // the same in all processes
  auto s = p.stream<clock::time_point>("s");
  p.object(
      "victim",
      [](out<clock::time_point> to) {
        to.send(clock::now());
        raise(SIGKILL);
      },
      s.out());
  p.object(
       "reader",
       [](in<clock::time_point> from) {
         clock::time_point died;
         try {
           for (const clock::time_point t : from) died = t;
         } catch (const stream_failed&) {
           const auto noticed_after =
               std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - died);
           std::printf("%lld\n", static_cast<long long>(noticed_after.count()));
         }
       },
       s.in())
      .at_home();
  try {
    p.run();
  } catch (const sukima::objects::object_failed&) {
  }
}

enum class ending { stop, abort, none };

void endless(program& p, ending how) {
  auto s = p.stream<int>("s", capacity{8});
  auto t = p.stream<int>("t", capacity{8});
  p.object(
      "source",
      [](out<int> to) {
        while (!to.stop_requested()) to.send(1);
      },
      s.out());
  p.object(
      "middle",
      [](in<int> from, out<int> to) {
        for (int v : from) to.send(v);
      },
      s.in(), t.out());
  p.object(
       "sink",
       [&p, how](in<int> from) {
         int n = 0;
         while (from.receive()) {
           if (++n != 1000) continue;
           if (how == ending::stop) p.stop();
           if (how == ending::abort) p.abort();
           if (how == ending::none) {
             std::puts("running");
             std::fflush(stdout);
           }
         }
         std::printf("stopped %d\n", n >= 1000);
       },
       t.in())
      .at_home();
  p.run();
  std::printf("over\n");
}

/// From now on that call of the system fails with this error.
/// \param flags bits of its second argument; without any of them it succeeds, as pipes that UBSan makes do
void forbid(long call, int error, unsigned flags = 0) {
  constexpr unsigned always = BPF_JMP | BPF_JGE | BPF_K;
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),  // the low half: x86-64, aarch64
      BPF_JUMP(flags == 0 ? always : BPF_JMP | BPF_JSET | BPF_K, flags, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(steps), steps};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    throw std::runtime_error("no filter for calls of the system");
}

struct with_pointer {
  int number;
  const char* text;
};

void refused(program& p, const std::string& scenario, int argc, char** argv) {
  if (scenario == "pointers") {
    auto s = p.stream<with_pointer>("words");
    p.object("a", [](out<with_pointer>) {}, s.out());
    p.object("b", [](in<with_pointer>) {}, s.in());
    p.run();
  } else if (scenario == "captured") {
    auto s = p.stream<int>("s");
    p.object("a", [to = s.out()]() mutable { to.send(1); });
    p.object("b", [](in<int> from) { from.receive(); }, s.in());
    p.run();
  } else if (scenario == "no arguments") {
    program q;
    q.object("a", [] {});
    q.run();
  } else if (scenario == "differs") {
    auto s = p.stream<int>("s", capacity{p.is_child() ? 2U : 4U});
    p.object("a", [](out<int>) {}, s.out());
    p.object("b", [](in<int> from) { from.receive(); }, s.in());
    p.run();
  } else if (scenario == "two") {
    p.object("a", [] {});
    p.run();
    program q(argc, argv);
    q.object("b", [] {});
    q.run();
  } else if (scenario == "the second first") {
    program q(argc, argv);
    q.object("b", [] {});
    q.run();
  } else if (scenario == "late") {
    char* changed[] = {argv[0], nullptr};
    program q(1, changed);
    q.object("b", [] {});
    q.run();
  } else if (scenario == "memory files" || scenario == "proc") {
    forbid(scenario == "proc" ? SYS_execve : SYS_memfd_create, scenario == "proc" ? ENOENT : EPERM);
    p.object("a", [] {});
    p.run();
  } else if (scenario == "no pipes") {
    forbid(SYS_pipe2, EMFILE, O_NONBLOCK);
    auto s = p.stream<int>("s");
    p.object("a", [](out<int>) {}, s.out());
    p.object("b", [](in<int>) {}, s.in());
    p.run();
  } else if (scenario == "twice") {
    p.object("a", [] {});
    p.run();
    p.run();
  } else if (scenario == "ends early") {
    if (p.is_child()) std::exit(7);
    p.object("a", [] {});
    p.run();
  } else if (scenario == "others' end") {
    auto s = p.stream<int>("s");
    auto t = p.stream<int>("t");
    static out<int>* stash = nullptr;
    p.object(
         "owner",
         [](out<int> to, in<int> from) {
           stash = &to;
           from.receive();
         },
         s.out(), t.in())
        .group("g");
    p.object(
         "thief",
         [](out<int> to) {
           stash->send(1);
           to.send(1);
         },
         t.out())
        .group("g");
    p.object(
         "sink",
         [](in<int> from) {
           while (from.receive()) {
           }
         },
         s.in())
        .at_home();
    p.run();
  }
}

/// Small messages and large ones, from two senders.
void large_texts(program& p) {
  static constexpr std::array<std::size_t, 4> sizes = {10, 40'000, 300'000, 2'000'000};
  auto s = p.stream<text>("texts", capacity{4});
  for (const char* const name : {"first", "second"})
    p.object(
        name,
        [letter = name[0]](out<text> to) {
          for (std::size_t i = 0; i < 40; ++i) to.send({std::string(sizes[i * 7 % 5 % 4] + i, letter)});
        },
        s.out());
  p.object(
       "sink",
       [](in<text> from) {
         std::map<char, std::size_t> next;
         for (const text& m : from) {
           const std::size_t i = next[m.value.front()]++;
           if (m.value != std::string(sizes[i * 7 % 5 % 4] + i, m.value.front()))
             std::printf("text %zu of %zu bytes\n", i, m.value.size());
         }
         std::printf("%zu and %zu texts\n", next['f'], next['s']);
       },
       s.in())
      .at_home();
  p.run();
}

/// A message that no stream between processes takes.
void too_large_text(program& p) {
  auto s = p.stream<text>("texts", capacity{2});
  p.object("source", [](out<text> to) { to.send({std::string(std::size_t{65} << 20, 'z')}); }, s.out());
  p.object("sink", [](in<text> from) { std::printf("%d\n", from.receive().has_value()); }, s.in()).at_home();
  p.run();
}

/// How many messages streams of capacity 8 take before one is received.
void until_full(program& p) {
  auto small = p.stream<text>("small", capacity{8}), large = p.stream<text>("large", capacity{8});
  auto sent = p.stream<int>("sent");
  p.object(
      "source",
      [](out<text> first, out<text> second, out<int> to) {
        const auto fill = [](out<text>& one, std::size_t size) {
          int count = 0;
          while (one.try_send({std::string(size, 'z')}) == send_result::sent) ++count;
          return count;
        };
        to.send(fill(first, 10));
        to.send(fill(second, 100'000));
      },
      small.out(), large.out(), sent.out());
  p.object(
       "sink",
       [](in<text> first, in<text> second, in<int> from) {
         const int small_ones = from.receive().value_or(0), large_ones = from.receive().value_or(0);
         std::printf("%d small, %d large\n", small_ones, large_ones);
         while (first.receive()) {
         }
         while (second.receive()) {
         }
       },
       small.in(), large.in(), sent.in())
      .at_home();
  p.run();
}

/// Two objects wait for one message, and there is no memory for the first of them to receive it. It then
/// waits for the other one.
void short_of_memory(program& p) {
  auto texts = p.stream<text>("texts");
  auto waiting = p.stream<int>("waiting");
  auto later = p.stream<int>("later");
  const auto receiver = [](in<text> from, out<int> received, in<int> other) {
    next_large_fails = true;
    try {
      const std::size_t size = from.receive().value().value.size();
      received.send(1);
      std::printf("received %zu\n", size);
    } catch (const std::bad_alloc&) {
      other.receive();
      std::puts("no memory");
    }
  };
  for (const char* const name : {"first", "second"})
    p.object(name, receiver, texts.in(), later.out(), later.in()).group("receivers").at_home();
  p.object("third", [](out<int> to) { to.send(1); }, waiting.out()).group("receivers").at_home();
  p.object(
      "sender",
      [](in<int> may_send, out<text> to) {
        may_send.receive();
        to.send({std::string(large_text, 'x')});
      },
      waiting.in(), texts.out());
  p.run();
}

/// An object tries to declare another one.
void declares(program& p) {
  p.object("first", [&p] {
    try {
      p.object("second", [] {});
    } catch (const sukima::usage_error& e) {
      std::puts(e.what());
      std::fflush(stdout);
    }
  });
  p.object("beside", [] {});
  p.run();
}

void forks(program& p) {
  auto s = p.stream<long>("s");
  p.object(
      "sum",
      [](sukima::context c, out<long> to) {
        to.send(sukima::parallel_reduce(c, 0, 1000, 0L, [](int i) { return long{i}; }, std::plus<>()));
      },
      s.out());
  p.object("sink", [](in<long> from) { std::printf("%ld\n", from.receive().value()); }, s.in()).at_home();
  p.run();
}

/// main goes into a folder by its name, in each process.
void pipeline_below(program& p) {
  std::filesystem::current_path("below");
  pipeline(p);
}

bool is_of_the_kernel(const std::filesystem::path& file, const std::string& target) {
  struct statfs where = {};
  if (statfs(file.c_str(), &where) != 0) return true;  // closed since
  return target.starts_with("/proc/") || target.starts_with("/sys/") || where.f_type == CGROUP_SUPER_MAGIC ||
         where.f_type == CGROUP2_SUPER_MAGIC;
}

// Descriptors that lead anywhere but into the kernel's files. The runtime's monitor, which outlives a
// program, opens those of /proc and /sys, and control groups wherever they are mounted, for a moment whenever
// it looks, and nothing here can wait for it to be elsewhere.
std::ptrdiff_t open_files() {
  std::ptrdiff_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code closed_meanwhile;
    const std::string target = std::filesystem::read_symlink(file, closed_meanwhile).string();
    count += !closed_meanwhile && !is_of_the_kernel(file, target);
  }
  return count;
}

int run(const std::string& scenario, program& p, int argc, char** argv) {
  if (scenario == "pipeline")
    pipeline(p);
  else if (scenario == "arguments")
    changes_its_arguments(p, argv);
  else if (scenario == "folder")
    pipeline_below(p);
  else if (scenario == "fan-in")
    fan_in(p);
  else if (scenario == "fan-out")
    fan_out(p);
  else if (scenario == "select")
    selecting(p);
  else if (scenario == "times")
    with_times(p);
  else if (scenario == "texts")
    texts(p, 2);
  else if (scenario == "texts with much room")
    texts(p, 16777216);
  else if (scenario == "large texts")
    large_texts(p);
  else if (scenario == "too large text")
    too_large_text(p);
  else if (scenario == "short of memory")
    short_of_memory(p);
  else if (scenario == "until full")
    until_full(p);
  else if (scenario == "stop")
    endless(p, ending::stop);
  else if (scenario == "abort")
    endless(p, ending::abort);
  else if (scenario == "endless")
    endless(p, ending::none);
  else if (scenario == "dies")
    dies(p);
  else if (scenario == "declares")
    declares(p);
  else if (scenario == "forks")
    forks(p);
  else if (scenario.starts_with("fails: "))
    fails(p, scenario.substr(7));
  else if (scenario.starts_with("refused: "))
    refused(p, scenario.substr(9), argc, argv);
  else
    return 2;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  auto p = std::make_unique<program>(argc, argv);
  const std::ptrdiff_t files = open_files();
  try {
    if (argc != 2 || run(argv[1], *p, argc, argv) != 0) return 2;
  } catch (const std::exception& e) {
    std::printf("error: %s\n", e.what());
  }
  p.reset();
  const std::ptrdiff_t left = open_files() - (files - 1);  // the program has closed its folder
  if (left > 0) std::printf("%td files are left open\n", left);
}
