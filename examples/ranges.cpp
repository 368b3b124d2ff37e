// SPDX-License-Identifier: Apache-2.0
// Loops over blocks, rows and columns, maps, filters and a text that splits itself; a fold.
#include <sukima/sukima.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// The lines of a text. It is split at the end of the line in its middle.
class lines {
 public:
  explicit lines(std::string_view text) : text_(text) {}

  std::optional<lines> split() {
    if (text_.size() < 4096) return std::nullopt;  // not worth it
    const std::size_t end = text_.find('\n', text_.size() / 2);
    if (end == std::string_view::npos) return std::nullopt;
    const lines rest(text_.substr(end + 1));
    text_ = text_.substr(0, end + 1);
    return rest;
  }

  struct iterator {
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    std::string_view left;
    std::string_view operator*() const { return left.substr(0, left.find('\n')); }
    iterator& operator++() {
      left.remove_prefix(std::min(left.size(), (**this).size() + 1));
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return left.empty(); }
  };
  iterator begin() const { return {text_}; }
  static std::default_sentinel_t end() { return {}; }

 private:
  std::string_view text_;
};

}  // namespace

int main() {
  // A fold: one histogram for each piece that a worker takes, and none for an element.
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += static_cast<char>('a' + i * 7 % 4);
  using histogram = std::array<long, 26>;
  const histogram letters = sukima::parallel_fold(
      text, histogram{}, [](histogram& h, char x) { ++h[static_cast<std::size_t>(x - 'a')]; },
      [](histogram a, const histogram& b) {
        for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
        return a;
      });
  std::printf("a: %ld, d: %ld\n", letters[0], letters[3]);

  // Blocks: the body gets the beginning and the end of each.
  std::vector<float> x(10'000, 1.5F);
  const sukima::blocked_range all_of_x(std::size_t{0}, x.size());
  sukima::parallel_for(all_of_x, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) x[i] *= 2;
  });

  // Rows and columns, as one loop.
  constexpr std::size_t rows = 300;
  constexpr std::size_t columns = 200;
  std::vector<int> table(rows * columns);
  sukima::parallel_for(sukima::range2d(rows, columns), [&](std::size_t row, std::size_t column) {
    table[row * columns + column] = static_cast<int>(row ^ column);
  });

  // A map, and a filter.
  std::map<std::string, int> lengths{{"one", 0}, {"three", 0}, {"four", 0}};
  sukima::parallel_for(lengths, [](auto& entry) { entry.second = static_cast<int>(entry.first.size()); });
  auto wanted = table | std::views::filter([](int v) { return v == 17; });
  const long found = sukima::parallel_reduce(wanted, 0L, [](int) { return 1L; }, std::plus{});
  std::printf("x: %g, lengths: %d %d, found: %ld\n", static_cast<double>(x[77]), lengths["three"],
              lengths["four"], found);

  // Something that knows itself how it is split.
  std::string page;
  for (int i = 0; i < 20'000; ++i) page += "line " + std::to_string(i) + '\n';
  const auto length = [](std::string_view line) { return line.size(); };
  const std::size_t all = sukima::parallel_reduce(lines(page), std::size_t{0}, length, std::plus{});
  std::printf("characters in lines: %zu of %zu\n", all, page.size());
}
