// SPDX-License-Identifier: Apache-2.0
// Tests of the problems of nbody and words.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "kernels/nbody.hpp"
#include "kernels/words.hpp"

namespace {

using kernels::nbody_problem;
using kernels::word_counts;

// The octants from the last to the first, as thieves may do it.
void grow_backwards(nbody_problem& p, const nbody_problem::cell& c) {
  const nbody_problem::octants o = p.divide(c);
  if (o.count == 0) return p.set_leaf(c);
  for (int i = o.count; i-- > 0;) grow_backwards(p, o.part[static_cast<std::size_t>(i)]);
  p.finish(c);
}

enum class order { forwards, backwards };

double energy_after_all_steps(std::size_t bodies, order o) {
  nbody_problem p(bodies);
  for (int step = 0; step < nbody_problem::steps; ++step) {
    for (int block = 0; block < p.blocks(); ++block) p.set_keys(block);
    if (o == order::forwards)
      p.grow(p.root());
    else
      grow_backwards(p, p.root());
    std::vector<kernels::nbody_sum> part(static_cast<std::size_t>(p.blocks()));
    for (int i = 0; i < p.blocks(); ++i) {
      const int block = o == order::forwards ? i : p.blocks() - 1 - i;
      part[static_cast<std::size_t>(block)] = p.move_block(block);
    }
    kernels::nbody_sum sum;
    for (const auto& s : part) sum += s;
    p.end_step(sum);
  }
  EXPECT_TRUE(p.conserved());
  return p.energy();
}

TEST(nbody, a_plummer_sphere_has_the_energy_of_minus_a_quarter_and_keeps_it) {
  EXPECT_NEAR(energy_after_all_steps(4096, order::forwards), -0.25, 0.015);
  for (const std::size_t few : {2U, 9U, 33U, 100U}) energy_after_all_steps(few, order::forwards);
}

TEST(nbody, the_order_of_the_work_changes_no_bit) {
  for (const std::size_t bodies : {10U, 1000U, 4000U})
    EXPECT_EQ(energy_after_all_steps(bodies, order::forwards),
              energy_after_all_steps(bodies, order::backwards));
}

TEST(nbody, the_check_finds_a_forgotten_block) {
  nbody_problem p(1000);
  for (int step = 0; step < 2; ++step) {
    for (int block = 0; block < p.blocks(); ++block) p.set_keys(block);
    p.grow(p.root());
    kernels::nbody_sum sum;
    for (int block = step; block < p.blocks(); ++block) sum += p.move_block(block);
    p.end_step(sum);
  }
  EXPECT_FALSE(p.conserved());
}

// A text as system_text keeps it: a byte of no word in front, readable bytes behind.
struct framed_text {
  std::string bytes;
  explicit framed_text(const std::string& text)
      : bytes("\n" + text + std::string(kernels::system_text::padding, '\0')) {}
  [[nodiscard]] std::size_t length() const { return bytes.size() - 1 - kernels::system_text::padding; }
  [[nodiscard]] kernels::text_piece piece(std::size_t from, std::size_t to) const {
    return {bytes.data() + 1 + from, bytes.data() + 1 + to};
  }
};

TEST(words, are_runs_of_letters_digits_and_underlines) {
  const framed_text text("a bb,bb\tBB (a_1) a_1 na\xc3\xafve;a");
  const word_counts counts(text.piece(0, text.length()));
  EXPECT_EQ(counts.distinct(), 5U);
  EXPECT_EQ(counts.count("a"), 2U);
  EXPECT_EQ(counts.count("bb"), 2U);
  EXPECT_EQ(counts.count("BB"), 1U);
  EXPECT_EQ(counts.count("a_1"), 2U);
  EXPECT_EQ(counts.count("na\xc3\xafve"), 1U);
  EXPECT_EQ(counts.count("b"), 0U);
  EXPECT_EQ(counts.result().substr(0, 4), "8 5 ");
}

TEST(words, of_all_lengths_are_distinguished) {
  std::string all;
  for (std::size_t length = 1; length <= 20; ++length)
    for (const char last : {'x', 'y'}) all += std::string(length - 1, 'a') + last + " ";
  const framed_text text(all + all);
  const word_counts counts(text.piece(0, text.length()));
  EXPECT_EQ(counts.distinct(), 40U);
  EXPECT_EQ(counts.count(std::string(16, 'a') + "y"), 2U);
}

TEST(words, wherever_the_text_is_cut_each_word_is_counted_once) {
  const framed_text text("one, two  three one-four");
  const std::string whole = word_counts(text.piece(0, text.length())).result();
  for (std::size_t cut = 0; cut <= text.length(); ++cut) {
    word_counts counts(text.piece(0, cut));
    counts.add(word_counts(text.piece(cut, text.length())));
    EXPECT_EQ(counts.result(), whole) << cut;
  }
}

TEST(words, other_counts_have_another_result) {
  const framed_text text("a a b"), other("a b b");
  const std::string one = word_counts(text.piece(0, text.length())).result();
  EXPECT_NE(one, word_counts(other.piece(0, other.length())).result());
}

TEST(words, tables_that_have_grown_can_be_merged_either_way) {
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "w" + std::to_string(i) + " ";
  const framed_text large(many), small("w1 w20000");
  word_counts into_large(large.piece(0, large.length())), into_small(small.piece(0, small.length()));
  into_large.add(into_small);
  into_small.add(word_counts(large.piece(0, large.length())));
  EXPECT_EQ(into_large.distinct(), 20'001U);
  EXPECT_EQ(into_large.count("w1"), 2U);
  EXPECT_EQ(into_large.result(), into_small.result());
}

TEST(system_text, pieces_have_the_words_of_the_whole) {
  const kernels::system_text text(std::size_t{1} << 20);
  word_counts counts;
  for (int i = text.pieces(); i-- > 0;) counts.add(word_counts(text.piece(i)));
  EXPECT_EQ(counts.result(), word_counts(text.whole()).result());
  EXPECT_GT(counts.count("the"), 0U);
  EXPECT_EQ(text.whole().last - text.whole().first, 1 << 20);
}

}  // namespace
