// SPDX-License-Identifier: Apache-2.0
// words: a reduction over the pieces of the text. Only a worker that steals a part of the loop makes a table.
// These tables are merged.
#include "kernels/words.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::text_piece;
using kernels::word_counts;

struct add_up {
  word_counts operator()(word_counts sum, const text_piece& piece) const {
    sum.add(piece);
    return sum;
  }
  word_counts operator()(word_counts sum, word_counts part) const {
    sum.add(std::move(part));
    return sum;
  }
};

void measure(bench::run& run) {
  const kernels::system_text text(static_cast<std::size_t>(run.size_between(1, 1024)) << 20);
  word_counts counts;
  run.time([&] {
    system_runtime().run([&](sukima::context c) {
      counts = sukima::parallel_reduce(
          c, 0, text.pieces(), word_counts(), [&text](int i) { return text.piece(i); }, add_up{});
    });
  });
  run.result(counts.result());
}

const bench::registration registered{"words", measure};

}  // namespace
