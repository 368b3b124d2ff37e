// SPDX-License-Identifier: Apache-2.0
// Runs random programs of the language and compares their results with their sequential erasures.
#include "../../options/test_options.hpp"
#include "generate.hpp"
#include "program.h"

#include <sukima/sukima.h>
#include <sukima/fork.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

extern "C" void run_foreign(const node* n, const workspace* w, part* result) {
  part p[2];
  workspace own[2] = {*w, *w};
  int uncaught[2];
  sukima::fork2([&] { uncaught[0] = run_program(n->child[0], &own[0], &p[0]); },
                [&] { uncaught[1] = run_program(n->child[1], &own[1], &p[1]); });
  for (int k = 0; k < 2; ++k) {
    if (uncaught[k] != 0)
      note(result, 0);
    else
      append(result, &p[k]);
  }
}

namespace {

/// \param splits  the number of PUTs is added to it
/// \returns what is wrong; empty: nothing
std::string check(const language_test::program& p, long& splits) {
  part expected;
  part found;
  workspace w{};
  const int expected_end = expect_program(p.root, &w, &expected);
  w = workspace{};
  const int found_end = run_program(p.root, &w, &found);
  const counts c = take_counts();
  splits += c.puts;
  if (found_end != expected_end) return expected_end != 0 ? "the tag was caught" : "a tag was not caught";
  if (found.hash != expected.hash) return "the result differs";
  if (c.wrong != 0) return std::to_string(c.wrong) + " BEFORE or AFTER blocks found a wrong state";
  if (c.befores != c.afters)
    return std::to_string(c.befores) + " BEFOREs and " + std::to_string(c.afters) + " AFTERs";
  if (c.gets > c.puts || (!p.leaves_early && c.gets != c.puts))
    return std::to_string(c.puts) + " PUTs and " + std::to_string(c.gets) + " GETs";
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  sukima_test::test_options options(
      "Runs random programs of the language and compares them with their sequential erasures.");
  std::uint64_t seed = 1;
  std::uint64_t count = 1000;
  int workers = 4;
  int size = 400;
  options.add("--seed", &seed, "seed of the first program; program k has seed + k");
  options.add("--count", &count, "number of programs");
  options.add("--workers", &workers, "number of workers", 1, 64);
  options.add("--size", &size, "approximate number of nodes of a program", 1, 100000);
  options.read_or_exit(argc, argv);
  setenv("SUKIMA_ELASTIC", "off", 0);
  if (sukima_workers_set(workers) != 0) {
    std::fputs("cannot set the number of workers\n", stderr);
    return 1;
  }
  long splits = 0;
  for (std::uint64_t k = 0; k < count; ++k) {
    const language_test::program p = language_test::generate(seed + k, size);
    const std::string wrong = check(p, splits);
    if (wrong.empty()) continue;
    std::printf("seed %llu: %s\nrun it again with --seed %llu --count 1 --workers %d --size %d\n",
                static_cast<unsigned long long>(seed + k), wrong.c_str(),
                static_cast<unsigned long long>(seed + k), workers, size);
    return 1;
  }
  std::printf("%llu programs, seeds from %llu: all match their erasures; %ld tasks were split off\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(seed), splits);
  return 0;
}
