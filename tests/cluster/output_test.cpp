// SPDX-License-Identifier: Apache-2.0
// The merged output of nodes under hierarchical omission: each byte once, whichever node is ahead, and
// whichever ends.
#include "launch/merged_output.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace {

using sukima::cluster::merged_output;

constexpr std::size_t window = merged_output::window;

std::string text_of(std::size_t size, std::uint64_t seed) {
  std::string text(size, ' ');
  for (char& c : text) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    c = static_cast<char>('a' + (seed >> 40) % 26);
  }
  return text;
}
/// All that is unprinted is printed.
std::string print(merged_output& m) {
  const std::string text(m.unprinted());
  m.printed(text.size());
  return text;
}

TEST(merged_output, prints_each_byte_once_from_the_node_that_is_ahead) {
  merged_output m(2);
  EXPECT_FALSE(m.take(1, "one t"));
  EXPECT_EQ(print(m), "one t");
  EXPECT_FALSE(m.take(0, "one two"));
  EXPECT_EQ(print(m), "wo");
  EXPECT_FALSE(m.take(1, "wo three"));
  EXPECT_EQ(print(m), " three");
  EXPECT_EQ(print(m), "");
}

TEST(merged_output, goes_on_where_a_node_ended) {
  merged_output m(3);
  EXPECT_FALSE(m.take(0, "abcde"));
  m.end(0);
  EXPECT_EQ(print(m), "abcde");
  EXPECT_FALSE(m.take(2, "abc"));
  m.end(2);
  EXPECT_FALSE(m.take(1, "abcdefg"));
  EXPECT_EQ(print(m), "fg");
  EXPECT_FALSE(m.shorter(1));
  ASSERT_TRUE(m.shorter(0));
  EXPECT_EQ(m.shorter(0)->from, 5u);
}

TEST(merged_output, finds_the_first_byte_that_differs) {
  merged_output m(2);
  EXPECT_FALSE(m.take(0, "0123456789"));
  print(m);
  EXPECT_FALSE(m.take(1, "0123"));
  const auto found = m.take(1, "45x7");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->node, 1u);
  EXPECT_EQ(found->from, 6u);
  EXPECT_EQ(found->to, 6u);
}

TEST(merged_output, gives_no_room_to_the_first_one_while_too_much_is_unprinted) {
  merged_output m(2);
  const std::string text = text_of(window, 1);
  EXPECT_EQ(m.room(0), window);
  EXPECT_FALSE(m.take(0, text));
  EXPECT_EQ(m.room(0), 0u);
  EXPECT_EQ(m.room(1), window) << "what is there already";
  EXPECT_FALSE(m.take(1, text));
  EXPECT_EQ(m.room(1), 0u);
  m.printed(10);
  EXPECT_EQ(m.room(0), 10u);
  EXPECT_EQ(m.room(1), 10u);
}

/// Node 1 begins when node 0 has written all, and the window is far away.
std::optional<merged_output::difference> far_behind(const std::string& first, const std::string& second) {
  merged_output m(3);
  std::string seen;
  for (std::size_t at = 0; at < first.size(); at += window / 2) {
    EXPECT_FALSE(m.take(0, std::string_view(first).substr(at, window / 2)));
    seen += print(m);
  }
  EXPECT_EQ(seen, first) << "no node waits for one behind";
  for (std::size_t at = 0; at < second.size(); at += 1000)
    if (const auto found = m.take(1, std::string_view(second).substr(at, 1000))) return found;
  EXPECT_EQ(m.unprinted(), "");
  return m.shorter(1);
}

TEST(merged_output, checks_nodes_that_are_far_behind) {
  const std::string text = text_of(5 * window + 7, 2);
  EXPECT_FALSE(far_behind(text, text));
  for (const std::size_t place :
       {std::size_t{0}, window / 2, 3 * window, 4 * window + 6, 4 * window + 7, 5 * window + 6}) {
    std::string other = text;
    other[place] = '.';
    const auto found = far_behind(text, other);
    ASSERT_TRUE(found) << place;
    EXPECT_EQ(found->node, 1u);
    EXPECT_LE(found->from, place);
    EXPECT_GE(found->to, place);
    EXPECT_EQ(found->from == found->to, place >= 4 * window + 7) << "it is exact in the window";
  }
  EXPECT_TRUE(far_behind(text, text.substr(0, text.size() - 1)));
}

// Four nodes in random steps; some end anywhere, one never. In every third round a byte of one node differs.
TEST(merged_output, is_exact_in_any_order) {
  unsigned found_ones = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    std::mt19937_64 draws(seed);
    const std::string text = text_of(draws() % (4 * window), seed);
    std::vector<std::string> own(4, text);
    for (unsigned n = 1; n < 4; ++n)
      if (draws() % 2 == 0) own[n].resize(draws() % (text.size() + 1));
    const auto wrong = static_cast<unsigned>(draws() % 4);
    const bool is_wrong = seed % 3 == 0 && !own[wrong].empty();
    if (is_wrong) own[wrong][draws() % own[wrong].size()] ^= 1;
    merged_output m(4);
    std::vector<std::size_t> sent(4);
    std::vector<bool> ended(4);
    std::string seen;
    bool found = false;
    while (!found && std::ranges::count(ended, true) < 4) {
      const auto n = static_cast<unsigned>(draws() % 4);
      if (ended[n]) continue;
      const std::size_t size = std::min({m.room(n), std::size_t{draws() % 100000}, own[n].size() - sent[n]});
      found = m.take(n, std::string_view(own[n]).substr(sent[n], size)).has_value();
      sent[n] += size;
      ended[n] = !found && sent[n] == own[n].size();
      if (ended[n]) m.end(n);
      const std::size_t printed = std::min<std::size_t>(m.unprinted().size(), draws() % 100000);
      seen += m.unprinted().substr(0, printed);
      m.printed(printed);
    }
    found_ones += found ? 1 : 0;
    // A node that is alone at a place is believed: another one is found to differ, or none.
    EXPECT_TRUE(is_wrong || !found) << seed;
    if (is_wrong) continue;
    seen += print(m);
    EXPECT_TRUE(seen == text) << seed;
  }
  EXPECT_GT(found_ones, 2u);
}

}  // namespace
