// SPDX-License-Identifier: Apache-2.0
// Programs that know nothing of the library's own types: nqueens over the program's own range of free
// columns, and a sum whose combiner is the name of a function.
#include "in_runtime.hpp"
#include "kernels/nqueens.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <vector>

namespace {

using kernels::queens;

/// The free columns of a row, lowest first.
class free_columns {
 public:
  class iterator {
   public:
    using iterator_concept = std::forward_iterator_tag;
    using value_type = std::uint32_t;
    using difference_type = std::ptrdiff_t;

    iterator() = default;
    explicit iterator(std::uint32_t left) : left_(left) {}
    std::uint32_t operator*() const { return left_ & -left_; }
    iterator& operator++() {
      left_ &= left_ - 1;
      return *this;
    }
    iterator operator++(int) {
      const iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const iterator&, const iterator&) = default;

   private:
    std::uint32_t left_ = 0;
  };

  explicit free_columns(std::uint32_t free) : free_(free) {}
  [[nodiscard]] iterator begin() const { return iterator(free_); }
  [[nodiscard]] iterator end() const { return {}; }

 private:
  std::uint32_t free_;
};

// As the benchmark `nqueens`, which goes over sukima::set_bits.
std::int64_t solutions(auto c, std::uint32_t columns, std::uint32_t up, std::uint32_t down) {
  const queens q{columns, up, down};
  if (q.complete()) return 1;
  return sukima::parallel_reduce(
      c, free_columns(q.free()), std::int64_t{0},
      [q](auto below, std::uint32_t bit) {
        const queens next = q.with(bit);
        return solutions(below, next.columns, next.up, next.down);
      },
      std::plus{});
}

void measure_queens(bench::run& run) {
  const queens empty = queens::empty(run.size_between(1, kernels::most_queens));
  time_in_runtime(run, [&](sukima::context c) { return solutions(c, empty.columns, empty.up, empty.down); });
}

std::int64_t add(std::int64_t a, std::int64_t b) { return a + b; }

void measure_sum(bench::run& run) {
  const int n = run.size_between(1, 100'000'000);
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  time_in_runtime(run, [&](sukima::context c) {
    return sukima::parallel_reduce(
        c, numbers, std::int64_t{0}, [](std::int64_t x) { return x; }, add, sukima::grain(1000));
  });
}

const bench::registration registered[]{{"nqueens-own-range", measure_queens}, {"sum-named", measure_sum}};

}  // namespace
