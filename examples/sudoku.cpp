// SPDX-License-Identifier: Apache-2.0
// search_first: one solution is enough; what still searches then is aborted.
#include <sukima/sukima.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

struct sudoku {
  std::string cells;  // '1' to '9', '.' where empty

  /// The empty cell with the fewest digits left; cells.size(): none is empty.
  std::size_t most_constrained(std::vector<char>& digits) const {
    std::size_t best = cells.size();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i] != '.') continue;
      std::vector<char> possible = possible_at(i);
      if (best == cells.size() || possible.size() < digits.size()) {
        best = i;
        digits = std::move(possible);
      }
    }
    return best;
  }

 private:
  std::vector<char> possible_at(std::size_t place) const {
    std::array<bool, 128> used{};
    for (std::size_t i = 0; i < 9; ++i) {
      used[static_cast<std::size_t>(cells[place / 9 * 9 + i])] = true;
      used[static_cast<std::size_t>(cells[i * 9 + place % 9])] = true;
      used[static_cast<std::size_t>(cells[(place / 27 * 3 + i / 3) * 9 + place % 9 / 3 * 3 + i % 3])] = true;
    }
    std::vector<char> possible;
    for (char digit = '1'; digit <= '9'; ++digit)
      if (!used[static_cast<std::size_t>(digit)]) possible.push_back(digit);
    return possible;
  }
};

static int solve(sukima::context c, sudoku& s, sukima::first_solution<std::string>& solution) {
  std::vector<char> digits;
  const std::size_t place = s.most_constrained(digits);
  if (place == s.cells.size()) solution.found(s.cells);
  return sukima::search(
      c, s, digits, [=](sudoku& mine, char digit) { mine.cells[place] = digit; },
      [=](sudoku& mine, char) { mine.cells[place] = '.'; },
      [&](sukima::context below, sudoku& mine, char) { return solve(below, mine, solution); }, std::plus{});
}

int main() {
  sudoku s{"53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"};
  const auto found = sukima::run([&](sukima::context c) {
    return sukima::search_first<std::string>(
        c, [&](sukima::context below, sukima::first_solution<std::string>& solution) {
          solve(below, s, solution);
        });
  });
  if (!found) return 1;
  for (std::size_t row = 0; row < 9; ++row) std::printf("%s\n", found->substr(9 * row, 9).c_str());
}
