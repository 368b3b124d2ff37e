// SPDX-License-Identifier: Apache-2.0
// words: one table for the whole text.
#include "kernels/words.hpp"

#include "harness/harness.hpp"

namespace {

void measure(bench::run& run) {
  const kernels::system_text text(static_cast<std::size_t>(run.size_between(1, 1024)) << 20);
  kernels::word_counts counts;
  run.time([&] { counts.add(text.whole()); });
  run.result(counts.result());
}

const bench::registration registered{"words", measure};

}  // namespace
