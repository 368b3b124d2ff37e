// SPDX-License-Identifier: Apache-2.0
// Scores of the best alignments of all pairs of protein sequences (Alignment of the Barcelona OpenMP Tasks
// Suite). The cost of a gap has a part for its opening and a part for its length (O. Gotoh, 1982). Sequences
// and scores of amino acids come from a fixed seed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/random.hpp"

namespace kernels {

inline constexpr int most_sequences = 2000;

class alignment_problem {
 public:
  explicit alignment_problem(int sequences)
      : sequences_(static_cast<std::size_t>(sequences)), scores_(sequences_.size() * sequences_.size()) {
    random_numbers random(14);
    for (std::size_t a = 0; a < acids; ++a)
      for (std::size_t b = 0; b <= a; ++b)
        acid_score_[a][b] = acid_score_[b][a] =
            a == b ? 4 + static_cast<int>(random.below(8)) : static_cast<int>(random.below(6)) - 4;
    for (auto& s : sequences_) {
      s.resize(least_length + random.below(most_length - least_length));
      for (auto& acid : s) acid = static_cast<std::uint8_t>(random.below(acids));
    }
  }

  [[nodiscard]] int sequences() const { return static_cast<int>(sequences_.size()); }

  /// Aligns sequence i with sequence j.
  void align(int i, int j) { scores_[place(i, j)] = score(sequence(i), sequence(j)); }

  /// Returns a text that depends on each score and on its place.
  [[nodiscard]] std::string result() const {
    std::int64_t sum = 0;
    std::uint64_t hash = 0;
    for (int i = 0; i < sequences(); ++i)
      for (int j = i + 1; j < sequences(); ++j) {
        sum += scores_[place(i, j)];
        hash = hash * 31 + static_cast<std::uint64_t>(scores_[place(i, j)]);
      }
    return std::to_string(sum) + " " + std::to_string(hash);
  }

 private:
  using acid_sequence = std::vector<std::uint8_t>;
  static constexpr std::size_t acids = 20, least_length = 60, most_length = 260;
  static constexpr int opening = 10, extension = 1;

  [[nodiscard]] const acid_sequence& sequence(int i) const { return sequences_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::size_t place(int i, int j) const {
    return static_cast<std::size_t>(i) * sequences_.size() + static_cast<std::size_t>(j);
  }

  /// Computes a score row by row. A gap of n acids costs opening + n · extension.
  [[nodiscard]] int score(const acid_sequence& a, const acid_sequence& b) const {
    std::array<int, most_length + 1> best, best_in_gap;  // of a's acids so far with the first j of b
    best[0] = 0;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      best[j] = -opening - static_cast<int>(j) * extension;
      best_in_gap[j] = best[j] - opening;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
      const auto& scores = acid_score_[a[i - 1]];
      int diagonal = best[0];
      best[0] = -opening - static_cast<int>(i) * extension;
      int left = best[0], left_in_gap = best[0] - opening;
      for (std::size_t j = 1; j <= b.size(); ++j) {
        left_in_gap = std::max(left_in_gap, left - opening) - extension;
        best_in_gap[j] = std::max(best_in_gap[j], best[j] - opening) - extension;
        left = std::max({diagonal + scores[b[j - 1]], left_in_gap, best_in_gap[j]});
        diagonal = best[j];
        best[j] = left;
      }
    }
    return best[b.size()];
  }

  std::vector<acid_sequence> sequences_;
  std::vector<int> scores_;
  std::array<std::array<int, acids>, acids> acid_score_{};
};

}  // namespace kernels
