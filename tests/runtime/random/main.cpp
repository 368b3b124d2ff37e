// SPDX-License-Identifier: Apache-2.0
// sukima-random-programs: runs random programs in parallel and compares their results with the expected ones.
#include "execute.hpp"
#include "program.hpp"
#include "resizer.hpp"
#include "verdict.hpp"

#include "../../options/test_options.hpp"
#include "../made_up_machine.hpp"
#include "invariants/at_rest.hpp"
#include "place/made_up_machine.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <vector>

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
  unsigned processes = 1;
  unsigned patience = 500;
  bool requests = false;
  bool fiber_limit = false;
  bool resize = false;
  bool places = false;
  bool fresh = false;
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

/// Some programs begin while the workers of the one before still search or fall asleep.
bool is_checked_at_rest(std::uint64_t seed) { return seed % 4 != 0; }

/// A worker is on another CPU every few milliseconds.
int wandering_cpu(unsigned worker) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto turn = static_cast<std::uint64_t>(now / std::chrono::milliseconds(4)) + worker * 5u;
  return static_cast<int>(mix(worker, turn / 16) % 8);
}

/// The effects of the hints.
struct moves {
  std::uint64_t exchanges = 0;
  std::uint64_t taken_back = 0;
  std::uint64_t steals = 0;
  void add(const std::optional<sukima::runtime>& r) {
    if (!r) return;
    const sukima::statistics s = r->statistics();
    exchanges += s.exchanges;
    taken_back += s.offers_taken_back;
    steals += s.steals_by_hint;
  }
};

int run(const options& o) {
  moves all;
  std::optional<support::made_up_machine> machine;
  sukima::detail::made_up_machine made_up{nullptr, wandering_cpu};
  if (o.places) {
    machine.emplace();
    made_up.table = &machine->table();
    sukima::detail::make_up_machine(&made_up);
  }
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
      all.add(runtime);
      runtime.reset();
      c = configure(seed / batch, o.requests, o.fiber_limit);
      dog.begins(seed, "starting a runtime with " + describe(c));
      runtime.emplace(settings_of(c));
      if (o.resize) changes.emplace(*runtime, seed);
    }
    program p = generate(seed, o.size);
    if (o.places) add_places(p, seed, sukima_place_table_count(made_up.table));
    if (o.print) {
      std::printf("seed %llu (%s):\n%s", static_cast<unsigned long long>(seed), describe(c).c_str(),
                  describe(*p.root).c_str());
      std::fflush(stdout);
    }
    const expectation expected = expect(p);
    for (unsigned i = 0; i < o.repeat; ++i) {
      dog.begins(seed, describe(c));
      if (changes) changes->next();
      observations seen;
      const result r = execute(p, *runtime, other, agent, seen);
      const std::string problem = check(p, c, expected, r, seen);
      if (is_checked_at_rest(seed)) sukima::detail::check_at_rest(*runtime);
      if (problem.empty()) continue;
      std::fprintf(stderr, "seed %llu (%s): %s\n%s", static_cast<unsigned long long>(seed),
                   describe(c).c_str(), problem.c_str(), describe(*p.root).c_str());
      return 1;
    }
  }
  dog.begins(o.seed + o.count, "ending the runtimes");
  changes.reset();
  all.add(runtime);
  runtime.reset();
  if (o.places)
    std::printf("%llu exchanges, %llu offers taken back, %llu steals by hint\n",
                static_cast<unsigned long long>(all.exchanges),
                static_cast<unsigned long long>(all.taken_back), static_cast<unsigned long long>(all.steals));
  return 0;
}

/// A seed that no earlier run had; runtimes are shared from multiples of `batch` on.
std::uint64_t fresh_seed() {
  std::random_device random;
  return (std::uint64_t{random()} << 8 | random() % 256) * batch;
}

/// Divides the programs among processes: most of a program's time is waiting. True if all ended with code 0.
bool run_in_processes(const options& o) {
  const std::uint64_t batches = (o.count + batch - 1) / batch;
  const std::uint64_t share = (batches + o.processes - 1) / o.processes * batch;
  std::vector<pid_t> started;
  for (std::uint64_t first = 0; first < o.count; first += share) {
    options part = o;
    part.seed = o.seed + first;
    part.count = std::min(share, o.count - first);
    const pid_t process = fork();
    if (process < 0) {
      std::perror("sukima-random-programs: fork");
      std::exit(1);
    }
    if (process == 0) std::exit(run(part));
    started.push_back(process);
  }
  bool all = true;
  for (const pid_t process : started) {
    int status = 0;
    all &= waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  options o;
  sukima_test::test_options line(
      "Runs random programs of forks, loops, searches, exceptions, cancellations and suspensions in "
      "parallel, and "
      "compares them with the sequential program. Ends with code 1 and the seed of the first wrong one.");
  line.add("--count", &o.count, "Number of programs");
  line.add("--seed", &o.seed, "Seed of the first one; the next ones follow");
  line.add("--size", &o.size, "Leaves of a program, about", 1, 1'000'000);
  line.add("--repeat", &o.repeat, "Runs of each program");
  line.add("--patience", &o.patience,
           "Seconds after which a program that has not ended is taken for hanging");
  line.add("--processes", &o.processes, "Processes that share the programs", 1, 256);
  line.add("--fresh", &o.fresh, "Begin with a seed that is another one each time, and print it");
  line.exclude("--fresh", "--seed");
  line.add("--requests", &o.requests, "Use the steal protocols `request` and `indolent`, too");
  line.add("--fiber-limit", &o.fiber_limit, "Let some runtimes have a limit of two parked fibers");
  line.add("--resize", &o.resize, "Change the number of workers all the time while the programs run");
  line.add("--places", &o.places, "Give a third of the nodes a hint where to run, on a made-up machine");
  line.add("--print", &o.print, "Print each program before it is run");
  line.read_or_exit(count, arguments);
  std::signal(SIGABRT, say_seed_and_die);
  std::signal(SIGSEGV, say_seed_and_die);  // the runtime calls it for faults that are no overflow of a fiber
  if (o.fresh) {
    o.seed = fresh_seed();
    std::printf("seeds from %llu\n", static_cast<unsigned long long>(o.seed));
    std::fflush(stdout);
  }
  if (o.processes == 1 ? run(o) != 0 : !run_in_processes(o)) return 1;
  std::printf("%llu programs, seeds from %llu: all as expected\n", static_cast<unsigned long long>(o.count),
              static_cast<unsigned long long>(o.seed));
  return 0;
}
