// SPDX-License-Identifier: Apache-2.0
// The output of nodes that each print something else: whole lines, and nothing lost.
#include "launch/gathered_output.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace {

using sukima::cluster::gathered_output;

/// All that is unprinted is printed.
std::string print(gathered_output& g) {
  std::string text(g.unprinted());
  g.printed(text.size());
  return text;
}

TEST(gathered_output, prefixes_whole_lines_of_other_nodes) {
  gathered_output g({"", "[1] ", "[2] "});
  g.take(1, "a\nb");
  g.take(2, "c");
  g.take(0, "zero\n");
  EXPECT_EQ(print(g), "[1] a\nzero\n");
  g.take(2, "d\n\ne\n");
  g.take(1, "\n");
  EXPECT_EQ(print(g), "[2] cd\n[2] \n[2] e\n[1] b\n");
}

TEST(gathered_output, prints_an_unfinished_line_of_node_0_at_once_and_whole) {
  gathered_output g({"", "[1] "});
  g.take(0, "progress: ");
  EXPECT_EQ(print(g), "progress: ");
  g.take(1, "a\nb\n");
  EXPECT_EQ(print(g), "");
  g.take(0, "50 % ");
  EXPECT_EQ(print(g), "50 % ");
  g.take(0, "done\nnext");
  EXPECT_EQ(print(g), "done\n[1] a\n[1] b\nnext");
  g.take(1, "c\n");
  g.take(0, "\n");
  EXPECT_EQ(print(g), "\n[1] c\n");
}

TEST(gathered_output, changes_no_byte) {
  using namespace std::string_view_literals;
  gathered_output g({"", ""});
  g.take(1, "\0\xff\r\n"sv);
  g.take(0, "\0\x80"sv);
  EXPECT_EQ(print(g), "\0\xff\r\n\0\x80"sv);
}

TEST(gathered_output, separates_lines_of_nodes_that_end_within_one) {
  gathered_output g({"", "[1] ", "[2] "});
  g.take(0, "unfinished");
  g.take(1, "a");
  g.end(1);
  EXPECT_EQ(print(g), "unfinished");
  g.end(0);
  EXPECT_EQ(print(g), "\n[1] a\n");
  g.take(2, "b\n");
  EXPECT_EQ(print(g), "[2] b\n");
}

TEST(gathered_output, prints_a_line_without_an_end_in_pieces) {
  gathered_output g({"", "[1] "});
  const std::string half(gathered_output::longest_line / 2, 'x');
  const std::string piece = half + half;
  g.take(1, half);
  g.take(1, half);
  EXPECT_EQ(print(g), "");
  g.take(1, "y");
  EXPECT_EQ(print(g), "[1] " + piece + "\n");
  g.take(1, piece);
  EXPECT_EQ(print(g), "[1] y" + piece.substr(1) + "\n");
  g.take(1, "\nz\n");
  EXPECT_EQ(print(g), "[1] x\n[1] z\n");
}

TEST(gathered_output, leaves_the_last_bytes_of_node_0_as_they_are) {
  gathered_output g({"", "[1] "});
  g.take(0, "42");
  g.end(0);
  g.end(1);
  EXPECT_EQ(print(g), "42");
}

TEST(gathered_output, lets_nodes_wait_for_a_slow_reader_but_not_for_node_0) {
  gathered_output g({"", "[1] "});
  g.take(0, "unfinished");
  EXPECT_EQ(print(g), "unfinished");
  const std::string line(gathered_output::most_unprinted - 1, 'x');
  g.take(1, line + "\n");
  g.take(1, line + "\n");
  EXPECT_EQ(g.unprinted(), "");
  EXPECT_NE(g.room(1), 0u);
  g.take(0, "\n");
  EXPECT_EQ(g.room(0), 0u);
  EXPECT_EQ(g.room(1), 0u);
  EXPECT_EQ(print(g), "\n[1] " + line + "\n[1] " + line + "\n");
  EXPECT_NE(g.room(0), 0u);
}

}  // namespace
