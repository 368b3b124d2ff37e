// SPDX-License-Identifier: Apache-2.0
// parallel_for and parallel_reduce over integers and ranges, without context, set-up or grain size.
#include <sukima/sukima.hpp>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

int main() {
  std::vector<float> x(10'000, 2.0f), y(10'000, 1.0f);
  sukima::parallel_for(std::size_t{0}, x.size(), [&](std::size_t i) { y[i] += 3.0f * x[i]; });
  const double sum =
      sukima::parallel_reduce(y, 0.0, [](float v) { return static_cast<double>(v); }, std::plus{});
  // The operation need not be commutative: results are merged in the order of the iterations.
  const std::string alphabet = sukima::parallel_reduce(
      'a', '{', std::string(), [](char letter) { return std::string(1, letter); }, std::plus{});
  std::printf("%.0f %s\n", sum, alphabet.c_str());
}
