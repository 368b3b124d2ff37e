// SPDX-License-Identifier: Apache-2.0
// Child processes: output, ends of all kinds, time limit, environment, and that waiting costs nothing.
#include <base/shared/child.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

#include "ended_process.hpp"

namespace {
std::atomic<int> calls_of_poll{0};
}

/// In place of the C library's.
extern "C" int poll(pollfd* events, nfds_t count, int milliseconds) {
  calls_of_poll.fetch_add(1);
  const timespec limit{milliseconds / 1000, milliseconds % 1000 * 1'000'000L};
  return ppoll(events, count, milliseconds < 0 ? nullptr : &limit, nullptr);
}

namespace sukima::cli::bench {
namespace {

using namespace std::chrono_literals;

process::child_result shell(const std::string& script, std::chrono::nanoseconds limit = 500s) {
  return process::run_child(
      {.arguments = {"/bin/sh", "-c", script}, .environment = {}, .input = {}, .limit = limit});
}

TEST(child, gives_output_errors_and_exit_code) {
  const process::child_result result = shell("echo out; echo err >&2; exit 7");
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(process::describe_failure(result, 1s), "ended with exit code 7");
}

TEST(child, reports_its_end_if_this_process_ignores_ended_children) {
  const auto before = signal(SIGCHLD, SIG_IGN);
  const process::child_result result = shell("i=0; while test $i -lt 10000; do i=$((i + 1)); done; exit 7");
  signal(SIGCHLD, before);
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_GT(result.cpu_seconds, 0);
}

TEST(child, reads_its_input) {
  const std::string text(300'000, 'x');
  const process::child_result result = process::run_child(
      {.arguments = {"/bin/sh", "-c", "wc -c"}, .environment = {}, .input = text, .limit = 500s});
  EXPECT_EQ(std::stoi(result.output), 300'000);
  EXPECT_EQ(shell("wc -c").output, "0\n");
}

TEST(child, may_print_more_than_a_pipe_holds_and_more_than_is_kept) {
  const process::child_result result = shell("head -c 3000000 /dev/zero; echo end >&2");
  EXPECT_EQ(result.output.size(), std::size_t{1} << 20);
  EXPECT_EQ(result.errors, "end\n");
  EXPECT_EQ(result.exit_code, 0);
}

TEST(child, may_have_the_end_kept_of_what_is_too_much) {
  process::child_request request;
  request.arguments = {"/bin/sh", "-c", "head -c 3000000 /dev/zero; echo end"};
  request.limit = 500s;
  request.keep_end = true;
  const process::child_result result = process::run_child(request);
  EXPECT_LE(result.output.size(), std::size_t{1} << 20);
  EXPECT_TRUE(result.output.ends_with("end\n"));
}

TEST(child, may_close_its_outputs_and_go_on) {
  EXPECT_EQ(shell("exec >&- 2>&-; sleep 0.1; exit 4").exit_code, 4);
}

TEST(child, that_dies_of_a_signal_is_reported) {
  const process::child_result result = shell("kill -SEGV $$");
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_EQ(process::describe_failure(result, 1s), "was killed by signal 11 (Segmentation fault)");
}

TEST(child, that_hangs_is_killed_with_its_children) {
  process::child_result result;
  // A shell that gets no CPU during the limit is killed before it prints anything.
  for (auto limit = 300ms; result.output.empty(); limit *= 2) {
    result = shell("sleep 600 & echo $!; trap '' TERM; sleep 600; sleep 600", limit);
    EXPECT_TRUE(result.timed_out);
  }
  EXPECT_EQ(process::describe_failure(result, 300ms), "did not end within 0.3 s and was killed");
  // The grandchild ends, too.
  wait_until_ended(std::stoi(result.output));
}

TEST(child, ends_even_if_others_hold_its_output) {
  const process::child_result result = shell("sleep 1000 & echo done");
  EXPECT_EQ(result.output, "done\n");
  EXPECT_FALSE(result.timed_out);
}

TEST(child, that_cannot_be_started_is_an_error) {
  try {
    process::run_child({.arguments = {"/no/such/program"}, .environment = {}, .input = {}});
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ENOENT);
  }
}

std::atomic<int> signals_seen{0};

/// Interrupts this thread once it sleeps in the start of a child, and lets the child go on then.
void interrupt(pthread_t starter, const std::filesystem::path& stat, const std::filesystem::path& gate) {
  for (std::string state; state != "S";) {
    std::ifstream in(stat);
    std::string text((std::istreambuf_iterator<char>(in)), {});
    state = text.substr(text.rfind(')') + 2, 1);
  }
  pthread_kill(starter, SIGUSR1);
  while (signals_seen == 0) {
  }
  const int opened = open(gate.c_str(), O_RDONLY | O_CLOEXEC);  // the child's open ends with this one
  char byte = 0;
  EXPECT_EQ(read(opened, &byte, 1), 1);
  close(opened);
}

// The child waits in front of a pipe, which stands for its control group, while the start of it is
// interrupted.
TEST(child, that_cannot_be_started_is_an_error_even_if_a_signal_arrives) {
  const std::filesystem::path gate =
      std::filesystem::temp_directory_path() / ("gate-" + std::to_string(getpid()));
  ASSERT_EQ(mkfifo(gate.c_str(), 0600), 0);
  struct sigaction action{}, before{};
  action.sa_handler = [](int) { ++signals_seen; };  // without SA_RESTART, as the program's own
  sigaction(SIGUSR1, &action, &before);
  std::thread other(interrupt, pthread_self(), "/proc/self/task/" + std::to_string(gettid()) + "/stat", gate);
  int reason = 0;
  try {
    process::run_child(
        {.arguments = {"/no/such/program"}, .environment = {}, .input = {}, .cpu_group = gate.string()});
  } catch (const std::system_error& error) {
    reason = error.code().value();
  }
  other.join();
  sigaction(SIGUSR1, &before, nullptr);
  std::filesystem::remove(gate);
  EXPECT_EQ(signals_seen, 1);
  EXPECT_EQ(reason, ENOENT);
}

TEST(child, sees_only_the_environment_that_is_passed_through) {
  setenv("SUKIMA_CHILD_TEST", "seen", 1);
  setenv("SUKIMA_REPLACED", "old", 1);
  setenv("OMP_NUM_THREADS", "77", 1);
  const process::child_result result = process::run_child({.arguments = {"/bin/sh", "-c", "env"},
                                                           .environment = {{"SUKIMA_REPLACED", "new"}},
                                                           .input = {},
                                                           .limit = 500s});
  EXPECT_NE(result.output.find("SUKIMA_CHILD_TEST=seen\n"), std::string::npos);
  EXPECT_NE(result.output.find("SUKIMA_REPLACED=new\n"), std::string::npos);
  EXPECT_EQ(result.output.find("SUKIMA_REPLACED=old"), std::string::npos);
  EXPECT_EQ(result.output.find("OMP_NUM_THREADS"), std::string::npos);
  EXPECT_NE(result.output.find("LC_ALL=C\n"), std::string::npos);
}

TEST(child, is_in_a_process_group_of_its_own) {
  EXPECT_EQ(shell("[ $(cut -d ' ' -f 5 /proc/$$/stat) = $$ ] && echo own").output, "own\n");
}

TEST(child, accounts_the_cpu_time_that_it_used) {
  const process::child_result result = shell("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done");
  EXPECT_GT(result.cpu_seconds, 0.02);
  EXPECT_GE(result.seconds * 1.1 + 0.05, result.cpu_seconds);
}

TEST(background_child, prints_to_its_file_and_ends_with_its_object) {
  std::string file = (std::filesystem::temp_directory_path() / "sukima-output-XXXXXX").string();
  close(mkstemp(file.data()));
  const auto text_of_file = [&] {
    std::ifstream stream(file);
    return std::string{std::istreambuf_iterator<char>(stream), {}};
  };
  pid_t pid = 0;
  {
    const process::background_child child(
        {.arguments = {"/bin/sh", "-c", "echo out; echo err >&2; exec sleep 1000"},
         .environment = {},
         .input = {},
         .output_file = file});
    pid = child.pid();
    EXPECT_EQ(kill(pid, 0), 0);
    while (text_of_file() != "out\nerr\n") usleep(1000);
  }
  EXPECT_NE(kill(pid, 0), 0);
  std::filesystem::remove(file);
}

TEST(waiting, costs_no_cpu_time) {
  const int before = calls_of_poll.load();
  shell("sleep 1");
  // One for each event, and some when the output is emptied.
  EXPECT_GT(calls_of_poll.load(), before);
  EXPECT_LT(calls_of_poll.load(), before + 10);
}

TEST(notice, comes_once_while_the_program_runs) {
  int calls = 0;
  std::string noticed = (std::filesystem::temp_directory_path() / "sukima-noticed-XXXXXX").string();
  close(mkstemp(noticed.data()));
  const process::child_result result =
      process::run_child({.arguments = {"/bin/sh", "-c", "while [ -e \"$0\" ]; do sleep 0.01; done", noticed},
                          .environment = {},
                          .input = {},
                          .limit = 500s,
                          .notice_at = std::chrono::steady_clock::now() + 100ms,
                          .notice = [&](pid_t) {
                            ++calls;
                            std::filesystem::remove(noticed);
                            return std::nullopt;
                          }});
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(calls, 1);
  process::run_child({.arguments = {"/bin/true"},
                      .environment = {},
                      .input = {},
                      .limit = 500s,
                      .notice_at = std::chrono::steady_clock::now() + 400s,
                      .notice = [&](pid_t) {
                        ++calls;
                        return std::nullopt;
                      }});
  EXPECT_EQ(calls, 1);
}

TEST(notice, comes_again_when_it_says_so) {
  int calls = 0;
  const process::child_result result =
      process::run_child({.arguments = {"/bin/sleep", "1000"},
                          .environment = {},
                          .input = {},
                          .limit = 500s,
                          .notice_at = std::chrono::steady_clock::now(),
                          .notice = [&](pid_t program) {
                            if (++calls == 3) kill(program, SIGKILL);
                            return std::optional(std::chrono::steady_clock::now() + 1ms);
                          }});
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_GE(calls, 3);
}

}  // namespace
}  // namespace sukima::cli::bench
