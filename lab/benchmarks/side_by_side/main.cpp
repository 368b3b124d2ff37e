// SPDX-License-Identifier: Apache-2.0
// A program that uses Sukima and OpenMP: bench-side-by-side WAY PHASES ITEMS
//
// Each phase adds up what its items give. WAY says which runtime runs a phase:
//   sukima, openmp   one of them runs all
//   turns            they take turns, so each waits while the other runs
//   both             two threads run half of the phases each, one with each runtime, at the same time
// Prints the seconds. Exit code 1: the sum is not that of a sequential loop; 2: wrong use.
#include <sukima/loop.hpp>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string_view>
#include <system_error>
#include <thread>

namespace {

/// Some microseconds of arithmetic. The remainder keeps the compiler from simplifying it.
std::uint64_t value_of(std::uint64_t item) {
  std::uint64_t value = item;
  for (int i = 0; i < 1000; ++i) value = value * 6364136223846793005u + 1442695040888963407u;
  return value % 1000003;
}

std::uint64_t with_sukima(std::uint64_t from, std::uint64_t items) {
  return sukima::parallel_reduce(from, from + items, std::uint64_t{0}, value_of, std::plus{});
}

std::uint64_t with_openmp(std::uint64_t from, std::uint64_t items) {
  std::uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (std::uint64_t i = from; i < from + items; ++i) sum += value_of(i);
  return sum;
}

std::uint64_t one_by_one(std::uint64_t from, std::uint64_t items) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = from; i < from + items; ++i) sum += value_of(i);
  return sum;
}

using phase_runner = std::uint64_t(std::uint64_t from, std::uint64_t items);

/// Every STEP-th phase from FIRST on.
std::uint64_t run_phases(phase_runner& run, std::uint64_t first, std::uint64_t step, std::uint64_t phases,
                         std::uint64_t items) {
  std::uint64_t sum = 0;
  for (std::uint64_t phase = first; phase < phases; phase += step) sum += run(phase * items, items);
  return sum;
}

std::uint64_t run_in_turns(std::uint64_t phases, std::uint64_t items) {
  std::uint64_t sum = 0;
  for (std::uint64_t phase = 0; phase < phases; ++phase)
    sum += (phase % 2 == 0 ? with_sukima : with_openmp)(phase * items, items);
  return sum;
}

std::uint64_t run_at_once(std::uint64_t phases, std::uint64_t items) {
  std::uint64_t of_openmp = 0;
  std::thread other([&] { of_openmp = run_phases(with_openmp, 1, 2, phases, items); });
  const std::uint64_t of_sukima = run_phases(with_sukima, 0, 2, phases, items);
  other.join();
  return of_sukima + of_openmp;
}

bool read_number(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number > 0 && number <= 1'000'000'000;
}

}  // namespace

int main(int count, char** words) {
  const std::string_view way = count == 4 ? words[1] : "";
  std::uint64_t phases = 0;
  std::uint64_t items = 0;
  if ((way != "sukima" && way != "openmp" && way != "turns" && way != "both") ||
      !read_number(words[2], phases) || !read_number(words[3], items)) {
    std::fputs(
        "bench-side-by-side: give sukima, openmp, turns or both, and two numbers, of phases and of items\n",
        stderr);
    return 2;
  }
  const auto begin = std::chrono::steady_clock::now();
  const std::uint64_t sum = way == "sukima"   ? run_phases(with_sukima, 0, 1, phases, items)
                            : way == "openmp" ? run_phases(with_openmp, 0, 1, phases, items)
                            : way == "turns"  ? run_in_turns(phases, items)
                                              : run_at_once(phases, items);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  std::printf("%.6f\n", taken.count());
  if (sum == run_phases(one_by_one, 0, 1, phases, items)) return 0;
  std::fputs("bench-side-by-side: the sum is wrong\n", stderr);
  return 1;
}
