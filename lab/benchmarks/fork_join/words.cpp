// SPDX-License-Identifier: Apache-2.0
// words: a loop over the pieces of the text. Each piece is counted into a table that is free at the moment,
// so that there are no more tables than threads; in the end these are merged in pairs.
#include "kernels/words.hpp"

#include <mutex>

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::word_counts;

/// Tables that are not in use.
class spare_tables {
 public:
  word_counts take() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) return {};
    word_counts table = std::move(spare_.back());
    spare_.pop_back();
    return table;
  }
  void give(word_counts table) {
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(table));
  }
  /// All tables, when none is in use any more.
  std::vector<word_counts>& all() { return spare_; }

 private:
  std::mutex mutex_;
  std::vector<word_counts> spare_;
};

word_counts merge(auto c, std::vector<word_counts>& tables, std::size_t first, std::size_t last) {
  if (last - first == 1) return std::move(tables[first]);
  const std::size_t middle = first + (last - first) / 2;
  word_counts a, b;
  c.fork2([&, first, middle](auto below) { a = merge(below, tables, first, middle); },
          [&, middle, last](auto below) { b = merge(below, tables, middle, last); });
  a.add(std::move(b));
  return a;
}

void measure(bench::run& run) {
  const kernels::system_text text(static_cast<std::size_t>(run.size_between(1, 1024)) << 20);
  word_counts counts;
  run.time([&] {
    spare_tables tables;
    loop(0, text.pieces(), [&](int i) {
      word_counts table = tables.take();
      table.add(text.piece(i));
      tables.give(std::move(table));
    });
    region([&](auto c) { counts = merge(c, tables.all(), 0, tables.all().size()); });
  });
  run.result(counts.result());
}

const bench::registration registered{"words", measure};

}  // namespace
