// SPDX-License-Identifier: Apache-2.0
// Objects in several processes that wait for one another end with the error that they end with in one
// process. Each test runs deadlock_program, because a process of a program starts its main again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace {

std::string ending_of(const std::string& scenario, const std::string& model, const char* more = "") {
  const std::string command =
      std::string(more) + " SUKIMA_OBJECTS=" + model + " '" DEADLOCK_PROGRAM "' '" + scenario + "' 2>&1";
  FILE* const from = popen(command.c_str(), "r");
  if (from == nullptr) return "no process";
  std::string text;
  for (int c = 0; (c = std::fgetc(from)) != EOF;) text.push_back(static_cast<char>(c));
  pclose(from);
  return text;
}

class deadlocks_test : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(all, deadlocks_test,
                         testing::Values("processes", "processes:simulated", "processes:threads", "threads",
                                         "simulated", "processes:pipe"),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });

TEST_P(deadlocks_test, of_all_say_which_object_waits_for_which) {
  EXPECT_EQ(
      ending_of("ring", GetParam()),
      "deadlock: sukima: all objects wait for one another: first waits for a message from c (0 of 2), which "
      "is "
      "sent by third; second waits for a message from a (0 of 2), which is sent by first; third waits for a "
      "message from b (0 of 2), which is sent by second\n");
}

TEST_P(deadlocks_test, by_full_streams_say_that_a_larger_capacity_would_help) {
  EXPECT_EQ(
      ending_of("no room", GetParam()),
      "deadlock: sukima: all objects wait for one another: client waits for room in questions (2 of 2), "
      "which "
      "is emptied by server; server waits for room in replies (2 of 2), which is emptied by client. With a "
      "larger capacity of questions its sender could continue\n");
}

TEST_P(deadlocks_test, of_some_end_the_program_if_that_is_wished) {
  EXPECT_EQ(
      ending_of("some", GetParam(), "SUKIMA_DEADLOCK=end"),
      "deadlock: sukima: some objects wait for one another: first waits for a message from a (0 of 2), which "
      "is "
      "sent by second; first waits for a message from none (0 of 2), which is sent by second; second waits "
      "for a message from b (0 of 2), which is sent by first; second waits for a message from none (0 of 2), "
      "which is sent by first\n");
}

TEST(deadlocks, are_not_reported_if_answers_come_late) {
  EXPECT_EQ(ending_of("slow", "processes"), "2 answers\nover\n");
}

TEST(deadlocks, count_encoded_messages_in_bytes) {
  EXPECT_EQ(ending_of("full of texts", "processes"),
            "deadlock: sukima: all objects wait for one another: left waits for room in texts (64512 of "
            "65536 bytes), which is emptied by reader; right waits for room in texts (64512 of 65536 bytes), "
            "which is "
            "emptied by reader; reader waits for room in never (64 of 64), which is emptied by left and "
            "right. With a "
            "larger capacity of texts its sender could continue\n");
}

TEST(deadlocks, that_a_crash_leaves_do_not_hide_it) {
  EXPECT_EQ(ending_of("after a crash", "processes"),
            "error: sukima: the process of culprit was killed by signal 9 (SIGKILL)\n");
}

}  // namespace
