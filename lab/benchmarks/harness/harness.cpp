// SPDX-License-Identifier: Apache-2.0
// main of every C++ benchmark program: arguments, repetitions, checks, one JSON line for each repetition.
#include "harness/harness.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
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

void check(const options& o, const run& r) {
  if (r.result().empty()) throw std::logic_error("the benchmark set no result");
  for (const known_result& known : known_results)
    if (known.benchmark == o.name && known.size == o.size && known.result != r.result())
      throw wrong_result("wrong result " + r.result() + ", expected " + std::string(known.result) +
                         " for size " + std::to_string(o.size));
}

std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ') throw std::logic_error("a result has a control character");
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

/// The shortest text that is read as the same number.
std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  if (std::abs(value) < 0x1p53 && value == std::floor(value))
    return std::to_string(static_cast<std::int64_t>(value));
  std::array<char, 32> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), written.ptr};
}

void print(const options& o, const run& r) {
  std::string line = "{\"benchmark\":" + json_string(o.name) + ",\"size\":" + std::to_string(o.size) +
                     ",\"seconds\":" + json_number(r.seconds()) +
                     ",\"cpu_seconds\":" + json_number(r.cpu_seconds()) +
                     ",\"result\":" + json_string(r.result());
  if (o.started) line += ",\"started\":" + json_number(r.started());
  for (const auto& [name, value] : r.fields()) line += "," + json_string(name) + ":" + json_number(value);
  std::cout << line << "}\n" << std::flush;
}

int repeat(const options& o, const entry& benchmark, unsigned repetitions) {
  try {
    for (unsigned i = 0; i < repetitions; ++i) {
      run r(o.size, o.workers, o.depth.value_or(0));
      r.start_at(wall_seconds());
      (o.depth ? benchmark.tuned : benchmark.measure)(r);
      check(o, r);
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

// Forks before the system is started, so that each child starts its system again.
int repeat_in_fresh_processes(const options& o, const entry& benchmark) {
  for (unsigned i = 0; i < o.repetitions; ++i) {
    const pid_t child = fork();
    if (child < 0) {
      std::perror("fork");
      return 1;
    }
    if (child == 0) _exit(repeat(o, benchmark, 1));
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
  const auto* const known =
      std::ranges::find(default_sizes, std::string_view(o.name), &default_size::benchmark);
  if (known == std::end(default_sizes)) throw std::logic_error("kernels/sizes.json has no " + o.name);
  o.size = size >= 0 ? size : known->size;
  if (found->second.how == start::cold) return repeat_in_fresh_processes(o, found->second);
  int code = 0;
  with_system(o.workers, [&] {
    warm_up();
    code = repeat(o, found->second, o.repetitions);
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
