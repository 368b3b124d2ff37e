// SPDX-License-Identifier: Apache-2.0
// One of a program's processes is killed at a random moment, KILLS times: every message that was accepted is
// received once by its living receiver, the program ends, and no process stays. crash_program checks what is
// received.
#include "process_care.hpp"

#include <cstdio>
#include <random>

namespace {

void kill_at_any_moment(const char* model) {
#if defined(FRESH_SEEDS)
  const unsigned first = std::random_device{}() % 1'000'000'000;
  std::printf("seeds from %u on\n", first);
#else
  const unsigned first = 1;
#endif
  std::string folder = testing::TempDir() + "sukima-crash-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string file = folder + "/accepted";
  for (unsigned seed = first; seed < first + KILLS && !testing::Test::HasFailure(); ++seed) {
    unlink(file.c_str());
    const pid_t parent = support::start(CRASH_PROGRAM, {std::to_string(seed), file}, STDOUT_FILENO, model);
    ASSERT_GT(parent, 0);
    int how = 0;
    EXPECT_EQ(waitpid(parent, &how, 0), parent);
    EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << "seed " << seed;
    support::await_no_process();
  }
  unlink(file.c_str());
  rmdir(folder.c_str());
}

TEST(processes, the_others_get_what_was_sent_when_one_is_killed_at_any_moment) {
  kill_at_any_moment("processes");
}

TEST(processes, the_others_get_what_was_sent_through_pipes_when_one_is_killed_at_any_moment) {
  kill_at_any_moment("processes:pipe");
}

}  // namespace
