// SPDX-License-Identifier: Apache-2.0
// Objects in processes: the same results as in one process, errors, and what is left of a process that dies.
// Each test runs processes_program, because a process of a program starts its main again.
#include "process_care.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

namespace {

using support::await_no_process;
using support::start;

/// The output of the scenario, its lines sorted: processes print in any order.
std::string output_of(const std::string& scenario, const std::string& model,
                      const std::string& folder = ".") {
  const std::string command = "cd '" + folder + "' && SUKIMA_OBJECTS=" + model +
                              " '" PROCESSES_PROGRAM "' '" + scenario + "' 2>&1 | LC_ALL=C sort";
  FILE* const from = popen(command.c_str(), "r");
  if (from == nullptr) return "no process";
  std::string text;
  for (int c = 0; (c = std::fgetc(from)) != EOF;) text.push_back(static_cast<char>(c));
  pclose(from);
  return text;
}

class processes_test : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(all, processes_test,
                         testing::Values("processes", "processes:simulated", "processes:threads", "threads",
                                         "simulated", "processes:pipe", "processes:simulated:pipe",
                                         "processes:threads:pipe"),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });

TEST_P(processes_test, a_pipeline_has_the_same_result) {
  EXPECT_EQ(output_of("pipeline", GetParam()), "sum 333283335000\n");
}

TEST_P(processes_test, the_arguments_are_those_of_the_start) {
  EXPECT_EQ(output_of("arguments", GetParam()), "1\n");
}

TEST_P(processes_test, main_may_change_its_folder) {
  const std::filesystem::path folder = testing::TempDir() + "sukima-objects-" + std::to_string(getpid());
  std::filesystem::create_directories(folder / "below");
  EXPECT_EQ(output_of("folder", GetParam(), folder.string()), "sum 333283335000\n");
  std::filesystem::remove_all(folder);
}

TEST_P(processes_test, the_standard_streams_may_be_closed) {
  const std::string program =
      std::string("SUKIMA_OBJECTS=") + GetParam() + " '" PROCESSES_PROGRAM "' pipeline";
  EXPECT_EQ(std::system((program + " <&- >/dev/null").c_str()), 0);
  EXPECT_EQ(std::system((program + " <&- >&-").c_str()), 0);
}

TEST_P(processes_test, many_senders_keep_their_order) {
  EXPECT_EQ(output_of("fan-in", GetParam()), "0: 1000\n1: 1000\n2: 1000\n3: 1000\n4: 1000\n");
}

TEST_P(processes_test, many_receivers_get_each_message_once) {
  EXPECT_EQ(output_of("fan-out", GetParam()), "4000, sum 7998000\n");
}

TEST_P(processes_test, select_serves_messages_and_room) {
  EXPECT_EQ(output_of("select", GetParam()), "500 300 1000\n");
}

TEST_P(processes_test, waits_end_in_time) { EXPECT_EQ(output_of("times", GetParam()), "1 1 1 1 3\n"); }

TEST_P(processes_test, messages_with_a_codec_have_any_size) {
  EXPECT_EQ(output_of("texts", GetParam()), "500 texts\n");
}

TEST_P(processes_test, messages_with_a_codec_may_be_larger_than_the_stream) {
  EXPECT_EQ(output_of("large texts", GetParam()), "40 and 40 texts\n");
}

TEST_P(processes_test, streams_may_have_much_room) {
  EXPECT_EQ(output_of("texts with much room", GetParam()), "500 texts\n");
}

TEST(processes, a_receiver_without_memory_leaves_the_message_to_another_one) {
  for (const char* model : {"processes:simulated", "processes:threads", "processes:simulated:pipe"})
    EXPECT_EQ(output_of("short of memory", model), "no memory\nreceived 1048576\n") << model;
}

TEST(processes, the_capacity_counts_messages_with_a_codec) {
  for (const char* model : {"processes", "processes:simulated"})
    EXPECT_EQ(output_of("until full", model), "8 small, 1 large\n") << model;
  for (const char* model : {"simulated", "threads"})
    EXPECT_EQ(output_of("until full", model), "8 small, 8 large\n") << model;
}

TEST_P(processes_test, objects_fork) { EXPECT_EQ(output_of("forks", GetParam()), "499500\n"); }

TEST_P(processes_test, objects_declare_no_others) {
  EXPECT_EQ(output_of("declares", GetParam()),
            "sukima: the object second was declared after run() had begun; declare all objects before it\n");
}

TEST_P(processes_test, stop_and_abort_reach_all) {
  EXPECT_EQ(output_of("stop", GetParam()), "over\nstopped 1\n");
  EXPECT_EQ(output_of("abort", GetParam()), "over\n");
}

TEST_P(processes_test, readers_get_an_exception_after_all_messages) {
  const std::string out = output_of("fails: throws", GetParam());
  const bool far = std::string(GetParam()).starts_with("processes");
  EXPECT_EQ(out,
            std::string("error: ") + (far ? "sukima: the object culprit failed: " : "") +
                "no more\nothers: 100000\nsink: 10, then sukima: stream t: the object culprit failed: no "
                "more\nsource: broken\n");
}

TEST(processes, readers_notice_a_crash_after_all_messages) {
  for (const auto& [how, text] :
       {std::pair("exits", "ended with code 3"), std::pair("is killed", "was killed by signal 9 (SIGKILL)"),
        std::pair("aborts", "was killed by signal 6 (SIGABRT)")}) {
    const std::string failure = std::string("the process of culprit ") + text;
    std::string expected = "error: sukima: ";
    expected.append(failure).append("\nothers: 100000\nsink: 10, then sukima: stream t: ");
    expected.append(failure).append("\nsource: broken\n");
    for (const char* model : {"processes:simulated", "processes:simulated:pipe"})
      EXPECT_EQ(output_of(std::string("fails: ") + how, model), expected) << model;
  }
}

TEST(processes, refuses_impossible_programs) {
  const std::vector<std::array<std::string, 2>> refused = {
      {"refused: pointers", "stream words cannot lead to another process: its messages, of type "},
      {"refused: captured", "stream s: where objects are processes each end must be an argument"},
      {"refused: no arguments", "program p(argc, argv)"},
      {"refused: differs",
       "declares 'stream s of int, 4 bytes, aligned to 4, capacity 2, 1 sending and 1 "
       "receiving ends' instead of 'stream s of int, 4 bytes, aligned to 4, capacity 4"},
      {"refused: two", "only one program of a process can have processes"},
      {"refused: the second first", "the process of b ended with code 0 before program::run"},
      {"refused: twice", "a program can be run only once"},
      {"refused: late", "must be the first statement of main"},
      {"refused: memory files", "no memory file for the streams between processes"},
      {"refused: proc", "a process for objects cannot be started from /proc/self/exe"},
      {"refused: ends early", "the process of a ended with code 7 before program::run"},
      {"refused: others' end",
       "the object thief failed: sukima: stream s: an end was used outside its object"},
      {"too large text",
       "the object source failed: sukima: stream texts: a message of 68157440 bytes is too large: at most "
       "67108864 bytes pass between processes; send it in parts"},
  };
  for (const auto& [scenario, text] : refused) {
    const std::string quoted = scenario == "refused: others' end" ? "refused: others'\\'' end" : scenario;
    const std::string out = output_of(quoted, "processes:simulated");
    EXPECT_NE(out.find("error: sukima: "), std::string::npos) << scenario << ": " << out;
    EXPECT_NE(out.find(text), std::string::npos) << scenario << ": " << out;
  }
}

TEST(processes, refuse_to_go_on_without_pipes) {
  EXPECT_EQ(
      output_of("refused: no pipes", "processes:pipe"),
      "error: sukima: stream s: no pipe; raise the limit of open files (ulimit -n), or use no pipes, as "
      "SUKIMA_OBJECTS=processes does: Too many open files\n");
}

TEST(processes, end_when_their_parent_dies) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t parent = start(PROCESSES_PROGRAM, {"endless"}, ends[1]);
  close(ends[1]);
  ASSERT_GT(parent, 0);
  char first = 0;
  EXPECT_EQ(read(ends[0], &first, 1), 1) << "messages go from process to process";
  kill(parent, SIGKILL);
  EXPECT_EQ(waitpid(parent, nullptr, 0), parent);
  await_no_process();
  close(ends[0]);
}

}  // namespace
