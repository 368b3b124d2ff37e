// SPDX-License-Identifier: Apache-2.0
// Programs: what is refused, stopping, aborting, deadlocks, many objects, fairness beside one that computes.
#include "support.hpp"

#include "../runtime/address_space.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace {

using namespace support;
using sukima::objects::deadlock;

class program_test : public models {};
INSTANTIATE_TEST_SUITE_P(all, program_test, all_models(), name_of_model);

bool has(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

/// Captures stderr during its lifetime. GoogleTest's own capture can be read only after its end.
class captured_stderr {
 public:
  captured_stderr() { dup2(fileno(file_), STDERR_FILENO); }
  captured_stderr(const captured_stderr&) = delete;
  captured_stderr& operator=(const captured_stderr&) = delete;
  ~captured_stderr() {
    dup2(before_, STDERR_FILENO);
    close(before_);
    std::fclose(file_);
  }
  std::string text() const {
    std::string all(1 << 16, '\0');
    const ssize_t size = pread(fileno(file_), all.data(), all.size(), 0);
    all.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return all;
  }

 private:
  std::FILE* const file_ = std::tmpfile();
  const int before_ = dup(STDERR_FILENO);
};

TEST_P(program_test, thread_bound_code_sends_and_stays_on_its_thread) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{1024});
  long sum = 0;
  p.object(
       "bound",
       [](out<int> to) {
         sukima::thread_bound([&] {
           const auto here = gettid();
           for (int i = 0; i < 1000; ++i) {
             to.send(1);
             ASSERT_EQ(gettid(), here);
           }
         });
       },
       s.out())
      .group("g");
  p.object(
       "sink",
       [&](in<int> from) {
         for (int i : from) sum += i;
       },
       s.in())
      .group("g");
  p.run();
  EXPECT_EQ(sum, 1000);
}

TEST(program, a_wait_inside_thread_bound_is_refused_with_the_name_of_the_object) {
  sukima::runtime r(with_workers(1));
  program p(r);
  p.model("simulated");
  auto s = p.stream<int>("s");
  p.object("waiter", [](in<int> from) { sukima::thread_bound([&] { from.receive(); }); }, s.in());
  p.object("source", [](out<int> to) { to.send(1); }, s.out());
  EXPECT_PRED2(has, text_of<usage_error>([&] { p.run(); }),
               "the object waiter waits inside thread_bound for others");
}

// While the bound object waits for another island, it keeps its own island from running.
TEST(program, a_wait_inside_thread_bound_that_blocks_its_own_end_is_a_deadlock) {
  for (const char* model : {"threads:simulated", "workers:simulated"}) {
    sukima::runtime r(with_workers(2));
    program p(r);
    p.model(model);
    auto s = p.stream<int>("s"), go = p.stream<int>("go");
    auto to_bound = s.out();
    p.object("bound", [](in<int> from) { sukima::thread_bound([&] { from.receive(); }); }, s.in()).group("g");
    p.object(
         "mate",
         [](out<int> to, out<int> lets_go) {
           lets_go.send(1);
           to.send(1);
         },
         to_bound.share(), go.out())
        .group("g");
    p.object(
         "other", [](out<int>, in<int> from) { from.receive(); }, std::move(to_bound), go.in())
        .group("h");
    const std::string text = text_of<deadlock>([&] { p.run(); });
    EXPECT_PRED2(has, text, "all objects wait for one another: bound waits for a message from s (0 of 64)");
    EXPECT_PRED2(has, text,
                 ". bound waits inside thread_bound and so keeps mate from running; let it wait outside");
  }
}

TEST(program, an_abort_does_not_leave_destructors) {
  const model_chosen chosen("simulated");  // the first object runs first
  sukima::runtime runtime(with_workers(4));
  program p(runtime);
  auto s = p.stream<int>("s", capacity{128}), never = p.stream<int>("never", capacity{4});
  int sent = 0;
  p.object(
      "aborts",
      [&](out<int> to, in<int> from) {
        struct last_words {
          out<int>& to;
          int& sent;
          ~last_words() {
            for (int i = 0; i < 100; ++i)
              if (to.try_send(i) == send_result::sent) ++sent;
          }
        } const at_end{to, sent};
        p.abort();
        from.receive();
      },
      s.out(), never.in());
  p.object("holds", [](const in<int>&, const out<int>&) {}, s.in(), never.out());
  p.run();
  EXPECT_GE(sent, 64) << "the 64th message ends a turn, which notices an abort";
}

TEST(program, refuses_programs_that_cannot_run) {
  sukima::runtime r(with_workers(2));
  program empty(r);
  EXPECT_TRUE(has(text_of<usage_error>([&] { empty.run(); }), "without objects"));
  {
    program p(r);
    auto s = p.stream<int>("one-way", capacity{2});
    p.object("a", [](out<int>) {}, s.out());
    EXPECT_TRUE(has(text_of<usage_error>([&] { p.run(); }), "one-way"));
  }
  {
    program p(r);
    auto s = p.stream<int>("silent", capacity{2});
    p.object("a", [](in<int>) {}, s.in());
    EXPECT_TRUE(has(text_of<usage_error>([&] { p.run(); }), "silent"));
  }
  {
    program p(r);
    p.object("twin", [] {});
    p.object("twin", [] {});
    EXPECT_TRUE(has(text_of<usage_error>([&] { p.run(); }), "twin"));
  }
  {
    program p(r);
    auto first = p.stream<int>("twin stream");
    auto second = p.stream<int>("twin stream");
    p.object("a", [](out<int>, out<int>) {}, first.out(), second.out());
    p.object("b", [](in<int>, in<int>) {}, first.in(), second.in());
    EXPECT_TRUE(has(text_of<usage_error>([&] { p.run(); }), "two streams are called twin stream"));
  }
  {
    program p(r);
    auto same = p.stream<int>("a");
    p.object("a", [](out<int>) {}, same.out());
    p.object("b", [](in<int>) {}, same.in());
    p.run();
  }
  {
    program p(r);
    p.object("a", [] {});
    p.run();
    EXPECT_THROW(p.run(), usage_error);
    EXPECT_THROW(p.object("b", [] {}), usage_error);
    EXPECT_THROW(p.stream<int>("s"), usage_error);
  }
}

/// No address space has room for 2^32 of these.
struct mebibyte {
  std::byte bytes[1 << 20];
};

TEST(program, refuses_streams_that_are_too_long_by_their_names) {
  sukima::runtime r(with_workers(1));
  program p(r);
  EXPECT_EQ(
      text_of<usage_error>([&] { p.stream<int>("long", capacity{std::size_t{1} << 40}); }),
      "sukima: the stream long was declared with room for 1099511627776 messages; at most 4294967296 are "
      "possible, so declare it with a smaller capacity");
#if !defined(SUKIMA_SANITIZED)  // AddressSanitizer ends the process
  EXPECT_PRED2(
      has, text_of<std::system_error>([&] { p.stream<mebibyte>("wide", capacity{std::size_t{1} << 32}); }),
      "sukima: no memory for the stream wide with room for 4294967296 messages of 1048576 bytes; declare "
      "it with a smaller capacity");
#endif
}

TEST(program, refuses_more_threads_than_there_is_room_for) {
  const model_chosen chosen("threads");
  sukima::runtime r(with_workers(2));
  program p(r);
  for (int i = 0; i < 5000; ++i) p.object(std::to_string(i), [] {});
  EXPECT_TRUE(has(text_of<usage_error>([&] { p.run(); }), "would need 5000 threads"));
}

TEST(program, objects_as_threads_are_monitored_also_with_one_worker) {
  // Threads that look around before they sleep hinder others if there are more such threads than CPUs; the
  // monitor notices that. An elastic runtime has a monitor anyway, this one has it for the threads.
  const auto monitors = [] {
    int found = 0;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream file(thread.path() / "comm");
      std::string name;
      if (std::getline(file, name) && name == "sukima-monitor") ++found;
    }
    return found;
  };
  const int others = monitors();  // that of the default runtime, if an earlier test has used it
  sukima::settings one = with_workers(1);
  one.elastic = false;
  sukima::runtime r(one);
  EXPECT_EQ(monitors(), others);
  const model_chosen chosen("threads");
  program p(r);
  auto s = p.stream<int>("numbers");
  p.object("a", [](out<int> to) { to.send(1); }, s.out());
  p.object(
      "b",
      [&](in<int> from) {
        while (from.receive()) continue;
        while (monitors() == others) std::this_thread::yield();  // it begins with the first thread
      },
      s.in());
  p.run();
}

TEST(program, refuses_unknown_models) {
  for (const char* word : {"processes:fast", "processes:", "fast"}) {
    const model_chosen chosen(word);
    program p;
    p.object("a", [] {});
    EXPECT_TRUE(has(text_of<sukima::bad_setting>([&] { p.run(); }), word));
  }
}

TEST(program, refuses_another_wish_about_deadlocks) {
  for (const char* word : {"End", "1", "report"}) {
    setenv("SUKIMA_DEADLOCK", word, 1);
    program p;
    p.object("a", [] {});
    EXPECT_EQ(text_of<sukima::bad_setting>([&] { p.run(); }),
              "SUKIMA_DEADLOCK=" + std::string(word) + ": it must be end, or unset");
    unsetenv("SUKIMA_DEADLOCK");
  }
}

TEST(program, destroys_programs_that_never_ran) {
  const auto token = std::make_shared<int>(1);
  {
    program p;
    auto s = p.stream<int>("s");
    p.object("a", [token](out<int>) {}, s.out());
    p.object("b", [](in<int>) {}, s.in());
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(program_test, rethrows_the_first_exception) {
  program p(runtime);
  std::atomic<int> ended{0};
  p.object("bad", [] { throw std::domain_error("no"); });
  for (int i = 0; i < 5; ++i) p.object("good " + std::to_string(i), [&] { ++ended; });
  EXPECT_THROW(p.run(), std::domain_error);
  EXPECT_EQ(ended, 5);
}

TEST_P(program_test, runs_inside_a_runtime) {
  int got = 0;
  runtime.run([&] {
    program p(runtime);
    auto s = p.stream<int>("s");
    p.object("a", [](out<int> to) { to.send(5); }, s.out());
    p.object("b", [&](in<int> from) { got = from.receive().value(); }, s.in());
    p.run();
  });
  EXPECT_EQ(got, 5);
}

TEST_P(program_test, stops_when_asked) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{8});
  std::atomic<long> sent{0};
  std::atomic<long> received{0};
  p.object(
      "source",
      [&](out<int> to) {
        while (!to.stop_requested()) {
          to.send(1);
          ++sent;
        }
      },
      s.out());
  p.object(
      "sink",
      [&](in<int> from) {
        while (from.receive()) ++received;
      },
      s.in());
  std::jthread stopper([&] {
    while (received == 0) std::this_thread::sleep_for(1ms);
    p.stop();
  });
  p.run();
  EXPECT_TRUE(p.stop_requested());
  EXPECT_EQ(sent, received);
  EXPECT_GT(sent, 0);
}

TEST_P(program_test, aborts_objects_that_wait_and_objects_that_run) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{8});
  auto t = p.stream<int>("t", capacity{8});
  auto u = p.stream<int>("u", capacity{8});
  std::atomic<int> begun{0};
  std::atomic<int> left{0};
  struct visit {
    std::atomic<int>& begun;
    std::atomic<int>& left;
    visit(std::atomic<int>& first, std::atomic<int>& last) : begun(first), left(last) { ++begun; }
    ~visit() { ++left; }
  };
  p.object(
      "runs",
      [&](out<int> to) {
        const visit here(begun, left);
        for (;;) to.send(1);
      },
      s.out());
  p.object(
      "receives",
      [&](in<int> from, out<int>) {
        const visit here(begun, left);
        while (from.receive()) {
        }
      },
      s.in(), t.out());
  p.object(
      "waits",
      [&](in<int> from, out<int>) {
        const visit here(begun, left);
        from.receive();
      },
      t.in(), u.out());
  p.object(
      "waits with a time",
      [&](in<int> from) {
        const visit here(begun, left);
        from.receive_for(100s);
      },
      u.in());
  std::jthread aborter([&] {
    while (begun != 4) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(30ms);
    p.abort();
  });
  p.run();
  EXPECT_EQ(left, 4);
}

TEST_P(program_test, aborts_objects_that_have_not_begun) {
  program p(runtime);
  const auto token = std::make_shared<int>(1);
  auto s = p.stream<int>("s", capacity{8});
  auto t = p.stream<int>("t", capacity{8});
  // In one island the first object runs before the others begin.
  p.object("aborts", [&](in<int>, out<int>) { p.abort(); }, t.in(), s.out());
  p.object("second", [token](in<int> from, out<int>) { from.receive(); }, s.in(), t.out());
  for (int i = 0; i < 50; ++i) p.object("more " + std::to_string(i), [token] {});
  p.run();
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(program_test, an_abort_before_the_run_lets_nothing_begin) {
  program p(runtime);
  std::atomic<int> begun{0};
  for (int i = 0; i < 5; ++i) p.object(std::to_string(i), [&] { ++begun; });
  p.abort();
  p.run();
  EXPECT_EQ(begun, 0);
}

long fib_without_context(int n) {
  if (n < 2) return n;
  const auto [a, b] =
      sukima::fork2([n] { return fib_without_context(n - 1); }, [n] { return fib_without_context(n - 2); });
  return a + b;
}

// Code with a context calls code without one: that runs on another fiber, while others of its group wait.
TEST_P(program_test, objects_call_code_without_a_context_below_code_with_one) {
  for (const bool is_bound : {false, true}) {
    program p(runtime);
    long sum = 0;
    const auto values = p.stream<long>("values", capacity{2});
    p.object(
         "computes",
         [is_bound](sukima::context c, out<long> to) {
           const auto compute = [&](sukima::context below) {
             const auto [a, b] = sukima::fork2(
                 below, [](sukima::context) { return fib_without_context(10); },
                 [](sukima::context) { return fib_without_context(9); });
             return a + b;
           };
           for (int i = 0; i < 20; ++i) {
             const long value = is_bound ? sukima::thread_bound([&] { return compute(c); }) : compute(c);
             to.send(value);
           }
         },
         values.out())
        .group("g");
    p.object(
         "adds",
         [&sum](in<long> from) {
           while (const auto value = from.receive()) sum += *value;
         },
         values.in())
        .group("g");
    p.run();
    EXPECT_EQ(sum, 20 * (55 + 34)) << is_bound;
  }
}

TEST_P(program_test, finds_a_deadlock_of_all) {
  program p(runtime);
  auto s = p.stream<int>("forth", capacity{2});
  auto t = p.stream<int>("back", capacity{2});
  p.object("first", [](in<int> from, out<int>) { from.receive(); }, t.in(), s.out());
  p.object("second", [](in<int> from, out<int>) { from.receive(); }, s.in(), t.out());
  const std::string text = text_of<deadlock>([&] { p.run(); });
  for (const char* word : {"all", "first", "second", "forth", "back", "(0 of 2)"})
    EXPECT_TRUE(has(text, word)) << text;
}

TEST_P(program_test, says_that_a_larger_capacity_would_help) {
  program p(runtime);
  auto s = p.stream<int>("questions", capacity{2});
  auto t = p.stream<int>("replies", capacity{2});
  p.object(
      "client",
      [](out<int> ask, in<int> replies) {
        for (int i = 0; i < 20; ++i) ask.send(i);
        for (int i = 0; i < 20; ++i) replies.receive();
      },
      s.out(), t.in());
  p.object(
      "server",
      [](in<int> questions, out<int> reply) {
        for (int q : questions) reply.send(q);
      },
      s.in(), t.out());
  const std::string text = text_of<deadlock>([&] { p.run(); });
  EXPECT_TRUE(has(text, "larger capacity")) << text;
  EXPECT_TRUE(has(text, "(2 of 2)")) << text;
}

TEST_P(program_test, reports_a_deadlock_of_some_and_goes_on) {
  program p(runtime);
  auto s = p.stream<int>("forth", capacity{2});
  auto t = p.stream<int>("back", capacity{2});
  p.object("first", [](in<int> from, out<int>) { from.receive(); }, t.in(), s.out());
  p.object("second", [](in<int> from, out<int>) { from.receive(); }, s.in(), t.out());
  auto ticks = p.stream<int>("ticks", capacity{1});
  auto done = p.stream<int>("done", capacity{1});
  const captured_stderr written;
  p.object(
      "alive",
      [&](in<int> tick, out<int>) {
        while (!written.text().ends_with('\n')) tick.receive_for(10ms);
        p.abort();
      },
      ticks.in(), done.out());
  p.object("freed by it", [](out<int>, in<int> end) { end.receive(); }, ticks.out(), done.in());
  p.run();
  const std::string text = written.text();
  EXPECT_TRUE(has(text, "some objects wait for one another")) << text;
  EXPECT_TRUE(has(text, "first")) << text;
  EXPECT_FALSE(has(text, "alive") || has(text, "freed")) << text;
}

TEST_P(program_test, reports_objects_that_wait_for_an_end_that_a_variable_still_has) {
  program p(runtime);
  auto numbers = p.stream<int>("numbers"), never_full = p.stream<int>("requests", capacity{1});
  const auto kept_out = numbers.out();
  const auto kept_in = never_full.in();
  p.object("sender", [](out<int> to) { to.send(1); }, kept_out.share());
  p.object(
      "sum",
      [](in<int> from) {
        while (from.receive()) {
        }
      },
      numbers.in());
  p.object(
      "asks",
      [](out<int> to) {
        to.send(1);
        to.send(2);
      },
      never_full.out());
  const captured_stderr written;
  std::thread ends([&] {
    while (!written.text().ends_with('\n')) std::this_thread::sleep_for(10ms);
    p.abort();
  });
  p.run();
  ends.join();
  EXPECT_EQ(
      written.text(),
      "sukima: all objects wait for one another: sum waits for a message from numbers (0 of 64); asks waits "
      "for room in requests (1 of 1). With a larger capacity of requests its sender could continue. No "
      "object has used a sending end of numbers; if a variable outside the objects still has it, move it "
      "into its object\n");
}

TEST(program, objects_that_wait_for_an_end_outside_them_end_if_that_is_wished) {
  setenv("SUKIMA_DEADLOCK", "end", 1);
  program p;
  auto numbers = p.stream<int>("numbers");
  const auto kept = numbers.out();
  p.object("sum", [](in<int> from) { from.receive(); }, numbers.in());
  const std::string text = text_of<deadlock>([&] { p.run(); });
  unsetenv("SUKIMA_DEADLOCK");
  EXPECT_TRUE(has(text, "No object has used a sending end of numbers")) << text;
}

TEST_P(program_test, a_slow_object_is_not_a_deadlock) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{1});
  int got = 0;
  p.object(
      "slow",
      [](out<int> to) {
        sukima::blocking([] { std::this_thread::sleep_for(2500ms); });
        to.send(1);
      },
      s.out());
  p.object("sink", [&](in<int> from) { got = from.receive().value_or(0); }, s.in());
  p.run();
  EXPECT_EQ(got, 1);
}

TEST_P(program_test, ready_objects_get_their_turn_beside_one_that_always_has_messages) {
  program p(runtime);
  auto busy = p.stream<int>("busy", capacity{1024});
  std::atomic<bool> over{false};
  long sent = 0;
  p.object(
       "source",
       [&](out<int> to) {
         for (; !over; ++sent) to.send(1);
       },
       busy.out())
      .group("g");
  p.object(
       "sink",
       [](in<int> from) {
         while (from.receive()) {
         }
       },
       busy.in())
      .group("g");
  auto token = p.stream<int>("token", capacity{1});
  auto back = p.stream<int>("back", capacity{1});
  p.object(
       "ping",
       [&](out<int> to, in<int> from) {
         for (int i = 0; i < 200; ++i) {
           to.send(i);
           EXPECT_EQ(from.receive(), i);
         }
         over = true;
       },
       token.out(), back.in())
      .group("g");
  p.object(
       "pong",
       [](in<int> from, out<int> to) {
         for (int i : from) to.send(i);
       },
       token.in(), back.out())
      .group("g");
  p.run();
  // The kernel decides in which order objects with threads of their own run.
  if (std::string(GetParam()) != "threads") {
    EXPECT_LE(sent, 2 * 64 * 200) << "a turn is 64 messages";
  }
}

#if !defined(SUKIMA_SANITIZED)  // sanitizers need address space of their own
// The caller's fiber waits for the objects, so a worker needs another one to run them.
TEST(program_death_test, no_memory_for_a_second_fiber_is_an_exception) {
  GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE);
  for (const char* const model : {"simulated", "workers:simulated"})
    EXPECT_EXIT(
        {
          alarm(500);
          const model_chosen chosen(model);
          sukima::settings s = with_workers(1);
          s.stack = std::size_t{256} << 20;
          sukima::runtime r(s);
          support::limit_address_space(std::size_t{64} << 20);
          program p(r);
          p.object("a", [] {});
          std::fputs(text_of<std::system_error>([&] { p.run(); }).c_str(), stderr);
          _exit(0);
        },
        testing::ExitedWithCode(0), "^sukima: no address space for a fiber; make SUKIMA_STACK smaller");
}

// The fibers of the first program would otherwise take the room of the second one.
TEST(program_death_test, a_program_without_memory_leaves_the_memory_to_others) {
  GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE);
  for (const char* const model : {"simulated", "workers:simulated"})
    EXPECT_EXIT(
        {
          alarm(500);
          const model_chosen chosen(model);
          sukima::settings s = with_workers(1);
          s.stack = std::size_t{1} << 20;
          sukima::runtime r(s);
          program small(r);
          small.object("a", [] {});
          small.run();  // the fibers that any program needs
          // The fibers of a thousand objects take more than 64 MiB.
          for (const auto& [objects, room] : {std::pair(100'000, 512), std::pair(1000, 64)}) {
            support::limit_address_space(static_cast<std::size_t>(room) << 20);
            program p(r);
            for (int i = 0; i < objects; ++i) p.object(std::to_string(i), [] {});
            try {
              p.run();
              std::fputs("ran ", stderr);
            } catch (const std::system_error&) {
              std::fputs("refused ", stderr);
            }
          }
          _exit(0);
        },
        testing::ExitedWithCode(0), "^refused ran $");
}

// With a little more address space each time, the program is refused, or runs. No start of a thread or fiber
// ends the process.
TEST(program_death_test, little_memory_refuses_a_program_of_threads_before_they_start) {
  GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE);
  EXPECT_EXIT(
      {
        alarm(500);
        const model_chosen chosen("threads");
        sukima::settings s = with_workers(1);
        s.stack = std::size_t{256} << 20;
        sukima::runtime r(s);
        for (std::size_t room = 0;; room += 64) {
          support::limit_address_space(room << 20);
          program p(r);
          p.object("a", [] {});
          try {
            p.run();
            _exit(0);
          } catch (const std::system_error&) {  // it needs more room
          }
        }
      },
      testing::ExitedWithCode(0), "");
}
#endif

TEST(program, a_hundred_thousand_objects_fit_into_a_gibibyte) {
  const model_chosen chosen("simulated");
  constexpr int n = sanitized ? 4'000 : 100'000;  // ThreadSanitizer has room for 8000 fibers
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  sukima::runtime r(with_workers(1));
  program p(r);
  // A ring: each object has one end of two streams; a token goes around once.
  std::vector<sukima::objects::stream<int>> links;
  for (int i = 0; i < n; ++i) links.push_back(p.stream<int>(std::to_string(i), capacity{8}));
  long last = 0;
  for (int i = 0; i < n; ++i)
    p.object(
        "o" + std::to_string(i),
        [i, &last](in<int> from, out<int> to) {
          if (i == 0) to.send(1);
          const int got = from.receive().value_or(-1);
          if (i == 0)
            last = got;
          else
            to.send(got + 1);
        },
        links[static_cast<std::size_t>(i)].in(), links[static_cast<std::size_t>((i + 1) % n)].out());
  p.run();
  EXPECT_EQ(last, n);
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  // The sanitizers need memory of their own.
  if (!sanitized) {
    EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 1 << 20) << "KiB";
  }
}

}  // namespace
