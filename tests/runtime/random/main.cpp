// SPDX-License-Identifier: Apache-2.0
// sukima-random-programs: runs random programs in parallel and compares with what they must result in.
#include "execute.hpp"
#include "program.hpp"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>

namespace {

using namespace random_programs;

/// Programs with neighbouring seeds share their runtimes.
constexpr std::uint64_t batch = 64;

/// The seed in work, for the last words of a process that dies.
std::atomic<std::uint64_t> seed_in_work{0};

extern "C" void say_seed_and_die(int signal) {
  char text[] = "the seed in work was 00000000000000000000\n";
  std::uint64_t seed = seed_in_work;
  for (std::size_t at = sizeof text - 3; seed != 0; --at, seed /= 10)
    text[at] = static_cast<char>('0' + seed % 10);
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

struct options {
  std::uint64_t count = 1000;
  std::uint64_t seed = 1;
  std::size_t size = 150;
  unsigned repeat = 1;
  unsigned patience = 60;
  bool requests = false;
  bool fiber_limit = false;
  bool resize = false;
  bool print = false;
};

/// Ends the process when one program takes too long, and says which one.
class watchdog {
 public:
  explicit watchdog(std::chrono::seconds patience) : thread_([this, patience] { main(patience); }) {}
  ~watchdog() {
    {
      const std::lock_guard hold(lock_);
      ends_ = true;
    }
    ended_.notify_one();
    thread_.join();
  }
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  void begins(std::uint64_t seed, std::string how) {
    const std::lock_guard hold(lock_);
    seed_in_work = seed;
    how_ = std::move(how);
    begun_ = std::chrono::steady_clock::now();
  }

 private:
  void main(std::chrono::seconds patience) {
    std::unique_lock hold(lock_);
    while (!ended_.wait_for(hold, std::chrono::seconds(1), [this] { return ends_; })) {
      if (std::chrono::steady_clock::now() - begun_ < patience) continue;
      std::fprintf(stderr, "seed %llu (%s): no end after %lld s\n",
                   static_cast<unsigned long long>(seed_in_work), how_.c_str(),
                   static_cast<long long>(patience.count()));
      std::abort();
    }
  }

  std::mutex lock_;
  std::condition_variable ended_;
  bool ends_ = false;
  std::string how_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::thread thread_;
};

/// Changes the number of a runtime's workers some thousand times a second.
class resizer {
 public:
  resizer(sukima::runtime& resized, std::uint64_t seed)
      : thread_([this, &resized, random = std::minstd_rand(static_cast<unsigned>(seed))]() mutable {
          while (!ends_) {
            resized.limit_workers(static_cast<unsigned>(random() % (resized.workers() + 1)));
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
          }
        }) {}
  ~resizer() {
    ends_ = true;
    thread_.join();
  }
  resizer(const resizer&) = delete;
  resizer& operator=(const resizer&) = delete;

 private:
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

std::string text_of(const result& r) {
  switch (r.how) {
    case result::end::value:
      return "the value " + std::to_string(r.number);
    case result::end::failure:
      return "failure " + std::to_string(r.number);
    case result::end::error:
      break;
  }
  return "an error: " + r.text;
}

std::string text_of(const outcomes& o) {
  std::string text = o.any_value ? "any value" : std::to_string(o.values.size()) + " values:";
  for (const std::uint64_t v : o.values) text += ' ' + std::to_string(v);
  text += "; failures:";
  for (const std::uint64_t f : o.failures) text += ' ' + std::to_string(f);
  return text;
}

/// What is wrong; empty: nothing.
std::string check(const program& p, const configuration& c, const expectation& expected, const result& r,
                  const observations& seen) {
  const auto wrong = [&](const std::string& what) {
    return what + "; possible: " + text_of(expected.possible) +
           "; sequentially: " + text_of(run_sequentially(p));
  };
  const outcomes& o = expected.possible;
  if (r.how == result::end::error) return wrong(text_of(r));
  if (r.how == result::end::value && !o.any_value && !o.values.contains(r.number)) return wrong(text_of(r));
  if (r.how == result::end::failure && !o.failures.contains(r.number)) return wrong(text_of(r));
  if (c.workers == 1 && p.in_order) {
    const result s = run_sequentially(p);
    if (s.how != r.how || s.number != r.number) return wrong(text_of(r) + " with one worker");
  }
  if (seen.captures != 0) return std::to_string(seen.captures) + " captured objects were not destroyed";
  if (p.pure && seen.leaves != expected.leaves)
    return std::to_string(seen.leaves) + " leaves were evaluated instead of " +
           std::to_string(expected.leaves);
  return {};
}

sukima::settings settings_of(const configuration& c) {
  sukima::settings s;
  s.workers = c.workers;
  s.published_tasks = c.ready;
  s.wait = static_cast<sukima::wait_policy>(c.wait);
  s.stack = std::size_t{1} << 20;
  s.choices = std::size_t{1} << 18;
  s.elastic = false;  // more workers than CPUs are wanted
  if (c.few_fibers) s.fibers = 2;
  return s;
}

int run(const options& o) {
  outsider agent;
  sukima::settings two;
  two.workers = 2;
  two.elastic = false;
  two.stack = std::size_t{1} << 20;
  sukima::runtime other(two);
  std::optional<sukima::runtime> runtime;
  std::optional<resizer> changes;
  configuration c;
  watchdog dog(std::chrono::seconds(o.patience));
  for (std::uint64_t seed = o.seed; seed < o.seed + o.count; ++seed) {
    if (!runtime || seed % batch == 0) {
      changes.reset();
      runtime.reset();
      c = configure(seed / batch, o.requests, o.fiber_limit);
      dog.begins(seed, "starting a runtime with " + describe(c));
      runtime.emplace(settings_of(c));
      if (o.resize) changes.emplace(*runtime, seed);
    }
    const program p = generate(seed, o.size);
    if (o.print) {
      std::printf("seed %llu (%s):\n%s", static_cast<unsigned long long>(seed), describe(c).c_str(),
                  describe(*p.root).c_str());
      std::fflush(stdout);
    }
    const expectation expected = expect(p);
    for (unsigned i = 0; i < o.repeat; ++i) {
      dog.begins(seed, describe(c));
      observations seen;
      const result r = execute(p, *runtime, other, agent, seen);
      const std::string problem = check(p, c, expected, r, seen);
      if (problem.empty()) continue;
      std::fprintf(stderr, "seed %llu (%s): %s\n%s", static_cast<unsigned long long>(seed),
                   describe(c).c_str(), problem.c_str(), describe(*p.root).c_str());
      return 1;
    }
  }
  dog.begins(o.seed + o.count, "ending the runtimes");
  changes.reset();
  runtime.reset();
  std::printf("%llu programs, seeds from %llu: all as expected\n", static_cast<unsigned long long>(o.count),
              static_cast<unsigned long long>(o.seed));
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  options o;
  CLI::App app(
      "Runs random programs of forks, loops, searches, exceptions, cancellations and suspensions in "
      "parallel, "
      "and compares them with the sequential program. Ends with code 1 and the seed of the first wrong one.");
  app.add_option("--count", o.count, "Number of programs")->capture_default_str();
  app.add_option("--seed", o.seed, "Seed of the first one; the next ones follow")->capture_default_str();
  app.add_option("--size", o.size, "Leaves of a program, about")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--repeat", o.repeat, "Runs of each program")->capture_default_str();
  app.add_option("--patience", o.patience,
                 "Seconds after which a program that has not ended is taken for hanging")
      ->capture_default_str();
  app.add_flag("--requests", o.requests, "Use the steal protocol `request`, too");
  app.add_flag("--fiber-limit", o.fiber_limit, "Let some runtimes have a limit of two parked fibers");
  app.add_flag("--resize", o.resize, "Change the number of workers all the time while the programs run");
  app.add_flag("--print", o.print, "Print each program before it is run");
  CLI11_PARSE(app, count, arguments);
  std::signal(SIGABRT, say_seed_and_die);
  std::signal(SIGSEGV, say_seed_and_die);  // the runtime calls it for faults that are no overflow of a fiber
  return run(o);
}
