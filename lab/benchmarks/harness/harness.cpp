// SPDX-License-Identifier: Apache-2.0
// main of every C++ benchmark program: arguments, repetitions, checks, one JSON line for each repetition.
#include "harness/harness.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/arguments.hpp"
#include "harness/sizes.hpp"

namespace bench {

double process_cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int run::size_between(int least, int most) const {
  if (size_ < least || size_ > most)
    throw bad_argument("size " + std::to_string(size_) + " is out of range: use --size " +
                       std::to_string(least) + " to " + std::to_string(most));
  return static_cast<int>(size_);
}

namespace {

struct entry {
  void (*measure)(run&) = nullptr;
  start how = start::warm;
  void (*tuned)(run&) = nullptr;  // with a cut-off depth
};

// Filled by the registrations before main, so it must exist when the first of them is constructed.
std::map<std::string, entry, std::less<>>& registered() {
  static std::map<std::string, entry, std::less<>> all;
  return all;
}

struct options {
  std::string name;
  std::int64_t size = 0;
  unsigned workers = 1;
  unsigned repetitions = 1;
  std::optional<int> depth;
  bool started = false;
};

void check(const options& o, const nlohmann::json& known, const run& r) {
  if (r.result().empty()) throw std::logic_error("the benchmark set no result");
  const std::string size = std::to_string(o.size);
  const auto& results = known["results"];
  if (!results.contains(size)) return;
  const std::string expected = results[size];
  if (r.result() != expected)
    throw wrong_result("wrong result " + r.result() + ", expected " + expected + " for size " + size);
}

void print(const options& o, const run& r) {
  nlohmann::ordered_json line{{"benchmark", o.name},
                              {"size", o.size},
                              {"seconds", r.seconds()},
                              {"cpu_seconds", r.cpu_seconds()},
                              {"result", r.result()}};
  if (o.started) line["started"] = r.started();
  for (const auto& [name, value] : r.fields()) {
    if (value == static_cast<double>(static_cast<std::int64_t>(value)))
      line[name] = static_cast<std::int64_t>(value);
    else
      line[name] = value;
  }
  std::cout << line.dump() << '\n' << std::flush;
}

int repeat(const options& o, const entry& benchmark, const nlohmann::json& known, unsigned repetitions) {
  try {
    for (unsigned i = 0; i < repetitions; ++i) {
      run r(o.size, o.workers, o.depth.value_or(0));
      r.start_at(wall_seconds());
      (o.depth ? benchmark.tuned : benchmark.measure)(r);
      check(o, known, r);
      print(o, r);
    }
    return 0;
  } catch (const bad_argument& e) {
    std::cerr << program_invocation_short_name << ": " << o.name << ": " << e.what() << "\n";
    return 2;
  } catch (const std::exception& e) {
    std::cerr << program_invocation_short_name << ": " << o.name << ": " << e.what() << "\n";
    return 1;
  }
}

// Forks before the system is started, so that each child starts its system anew.
int repeat_in_fresh_processes(const options& o, const entry& benchmark, const nlohmann::json& known) {
  for (unsigned i = 0; i < o.repetitions; ++i) {
    const pid_t child = fork();
    if (child < 0) {
      std::perror("fork");
      return 1;
    }
    if (child == 0) _exit(repeat(o, benchmark, known, 1));
    int status = 0;
    if (waitpid(child, &status, 0) < 0) {
      std::perror("waitpid");
      return 1;
    }
    if (!WIFEXITED(status)) return 1;
    if (WEXITSTATUS(status) != 0) return WEXITSTATUS(status);
  }
  return 0;
}

int run_program(int argc, char** argv) {
  arguments given("Measures one benchmark and prints one JSON line for each repetition.");
  options o;
  bool list = false;
  std::int64_t size = -1;
  given.word("NAME", o.name, "the benchmark (see --list)");
  given.number("--size", size, 0LL, largest_whole,
               "the problem's size (default: lab/benchmarks/kernels/sizes.json)");
  given.number("--workers", o.workers, 1, 4096, "number of worker threads");
  given.number("--repetitions", o.repetitions, 1, 1'000'000, "number of repetitions");
  given.number("--depth", o.depth, 0, 1'000'000,
               "run the tuned program: this many levels of the search fork");
  given.flag("--started", o.started, "also print when the measured part began, by the monotonic clock");
  given.flag("--list", list, "print the names of the benchmarks that this program has");
  try {
    if (!given.parse(argc, argv)) return 0;
  } catch (const usage_mistake& e) {
    std::cerr << program_invocation_short_name << ": " << e.what() << "; --help shows the options\n";
    return 2;
  }
  if (list) {
    for (const auto& [name, benchmark] : registered()) std::cout << name << "\n";
    return 0;
  }
  const auto found = registered().find(o.name);
  if (found == registered().end()) {
    std::cerr << program_invocation_short_name << ": "
              << (o.name.empty() ? "no benchmark named" : "unknown benchmark '" + o.name + "'")
              << "; known are:";
    for (const auto& [name, benchmark] : registered()) std::cerr << " " << name;
    std::cerr << "\n";
    return 2;
  }
  if (o.depth && found->second.tuned == nullptr) {
    std::cerr << program_invocation_short_name << ": " << o.name
              << " has no tuned program: leave --depth out\n";
    return 2;
  }
  const auto table = nlohmann::json::parse(sizes_json);
  const auto& known = table.at(o.name);
  o.size = size >= 0 ? size : known.at("default").get<std::int64_t>();
  if (found->second.how == start::cold) return repeat_in_fresh_processes(o, found->second, known);
  int code = 0;
  with_system(o.workers, [&] {
    warm_up();
    code = repeat(o, found->second, known, o.repetitions);
  });
  return code;
}

// Benchmarks run on an ordinary thread, but one whose stack has room for deep recursions of systems that work
// on the caller's stack.
constexpr std::size_t stack_bytes = std::size_t{1} << 30;

int run_on_large_stack(int argc, char** argv) {
  struct call {
    int argc;
    char** argv;
    int code;
  } c{argc, argv, 1};
  const auto body = [](void* p) -> void* {
    auto& arguments = *static_cast<call*>(p);
    try {
      arguments.code = run_program(arguments.argc, arguments.argv);
    } catch (const bad_argument& e) {
      std::cerr << program_invocation_short_name << ": " << e.what() << "\n";
      arguments.code = 2;
    } catch (const std::exception& e) {
      std::cerr << program_invocation_short_name << ": " << e.what() << "\n";
    }
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_t thread{};
  const int error = pthread_create(&thread, &attributes, body, &c);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    std::cerr << program_invocation_short_name << ": cannot start a thread: " << std::strerror(error) << "\n";
    return 1;
  }
  pthread_join(thread, nullptr);
  return c.code;
}

}  // namespace

registration::registration(std::string_view name, void (*measure)(run&), start how) {
  entry& e = registered()[std::string(name)];
  e.measure = measure;
  e.how = how;
}

tuned_registration::tuned_registration(std::string_view name, void (*measure)(run&)) {
  registered()[std::string(name)].tuned = measure;
}

}  // namespace bench

int main(int argc, char** argv) { return bench::run_on_large_stack(argc, argv); }
