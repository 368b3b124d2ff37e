// SPDX-License-Identifier: Apache-2.0
// The program `sukima explain`, with files and with programs.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include <base/shared/child.hpp>
#include "explain_trace.hpp"

namespace sukima::cli::explain {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class explain_command : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "sukima-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    fs::create_directory(folder / "tmp");
  }
  void TearDown() override {
    EXPECT_TRUE(fs::is_empty(folder / "tmp")) << "a temporary file was left";
    fs::remove_all(folder);
  }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  }

  process::child_result explain(std::vector<std::string> arguments, const std::string& input = {}) const {
    arguments.insert(arguments.begin(), {SUKIMA_PROGRAM, "explain"});
    return run(std::move(arguments), input);
  }

  process::child_result run(std::vector<std::string> arguments, const std::string& input = {}) const {
    return process::run_child(
        {.arguments = std::move(arguments),
         .environment = {{"TMPDIR", (folder / "tmp").string()}, {"SUKIMA_WORKERS", "2"}},
         .input = input,
         .limit = 500s});
  }

  void expect_refused(const std::vector<std::string>& arguments, const std::string& part) const {
    const auto result = explain(arguments);
    EXPECT_EQ(result.exit_code, 2) << part;
    EXPECT_EQ(result.output, "");
    EXPECT_NE(result.errors.find(part), std::string::npos) << result.errors;
    EXPECT_EQ(std::ranges::count(result.errors, '\n'), 1) << result.errors;
  }

  fs::path folder;
};

TEST_F(explain_command, explains_a_file) {
  const auto result = explain({write("t.json", pressed_trace())});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
  EXPECT_NE(result.output.find("The run took 4 s."), std::string::npos) << result.output;
}

TEST_F(explain_command, explains_it_as_json) {
  const auto result = explain({"--json", write("t.json", pressed_trace())});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NEAR(nlohmann::json::parse(result.output).at("runtimes").at(0).at("seconds").get<double>(), 4, 1e-9);
}

constexpr const char* run_of_two_nodes =
    R"({"kind":"sukima cluster run","seconds":3.0,"hope":false,"nodes":[)"
    R"({"node":0,"exit_code":0,"signal":0,"counts":{"notes":5,"given":2,"sent_bytes":400}},)"
    R"({"node":1,"exit_code":0,"signal":0,"counts":{"notes":6,"requests":4,"sent_bytes":500}}]})";

TEST_F(explain_command, explains_a_run_of_several_nodes) {
  const std::string file = write("nodes.json", run_of_two_nodes);
  const auto result = explain({file});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
  EXPECT_TRUE(result.output.starts_with("2 nodes ran for 3.00 s\n")) << result.output;
  EXPECT_TRUE(result.output.ends_with("\nTo try:\n  Nothing: the messages show no loss.\n")) << result.output;
  const auto parsed = nlohmann::json::parse(explain({"--json", file}).output);
  EXPECT_EQ(parsed.at("totals").at("sent_bytes"), 900);
  EXPECT_EQ(parsed.at("nodes").at(1).at("counts").at("requests"), 4);
  EXPECT_EQ(parsed.at("advice").size(), 1u);
  expect_refused({file, "--html", (folder / "page").string()}, "which --html cannot draw: leave --html out");
}

TEST_F(explain_command, refuses_bad_requests_with_one_sentence) {
  const std::string good = write("t.json", pressed_trace());
  expect_refused({}, "nothing to explain");
  expect_refused({(folder / "none").string()}, "none' cannot be read: No such file or directory");
  expect_refused({folder.string()}, "cannot be read: Is a directory");
  expect_refused({"/dev/zero"}, "'/dev/zero' cannot be read: it is a device");
  expect_refused({write("empty", "")}, "is empty");
  expect_refused({write("words", "some words")}, "is not JSON (byte 1)");
  expect_refused({write("other", "{}")}, "is JSON but not a trace");
  expect_refused({write("cut", pressed_trace().substr(0, 900))}, "is cut off");
  expect_refused({SUKIMA_PROGRAM}, "is a program, not a trace; to run it: sukima explain -- ");
  expect_refused({good, good}, "one argument too many");
  expect_refused({good, "--jsn"}, "the options are --help, --json, --html and --keep");
  expect_refused({good, "--keep", "x"}, "--keep is for the trace of a program");
  expect_refused({"--"}, "no program was given after --");
  expect_refused({good, "--", "true"}, "are both given");
}

TEST_F(explain_command, says_as_env_does_that_a_program_cannot_be_started) {
  const auto none = explain({"--", (folder / "none").string()});
  EXPECT_EQ(none.exit_code, 127);
  EXPECT_NE(none.errors.find("none' cannot be started: there is no such program"), std::string::npos);
  EXPECT_EQ(explain({"--", folder.string()}).exit_code, 126);
}

TEST_F(explain_command, runs_a_program_and_explains_it_on_stderr) {
  const auto result = explain({"--keep", (folder / "kept.json").string(), "--", SUKIMA_EXAMPLE});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "352 solutions\n");
  EXPECT_NE(result.errors.find("The run took"), std::string::npos) << result.errors;
  EXPECT_NE(result.errors.find("2 workers"), std::string::npos) << result.errors;
  const auto again = explain({(folder / "kept.json").string()});
  EXPECT_EQ(again.output, result.errors);
}

TEST_F(explain_command, looks_before_the_program_runs_whether_its_trace_can_be_kept) {
  const std::string ran = (folder / "ran").string();
  expect_refused({"--keep", (folder / "none/file").string(), "--", "touch", ran},
                 "none/file': No such file or directory; give --keep another file");
  expect_refused({"--keep", folder.string(), "--", "touch", ran},
                 "': Is a directory; give --keep another file");
  expect_refused({"--html", (folder / "none/page").string(), "--", "touch", ran},
                 "the page cannot be written to '" + (folder / "none/page").string() + "'");
  EXPECT_FALSE(fs::exists(ran));
  const std::string kept = write("kept", "as it was");
  EXPECT_EQ(explain({"--keep", kept, "--", "true"}).exit_code, 0);
  EXPECT_EQ(fs::file_size(kept), 9U) << "a program without a trace took the content of the file along";
  EXPECT_EQ(explain({"--keep", (folder / "new").string(), "--", "true"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(folder / "new")) << "a program without a trace left an empty file";
}

TEST_F(explain_command, explains_a_program_as_json) {
  const auto result = explain({"--json", "--", SUKIMA_EXAMPLE});
  const auto profile = nlohmann::json::parse(result.errors).at("runtimes").at(0);
  EXPECT_GT(profile.at("seconds").get<double>(), 0);
  EXPECT_EQ(profile.at("decisions").at(0).at("what"), "workers");
}

TEST_F(explain_command, passes_streams_arguments_and_the_exit_code_through) {
  const auto result = explain(
      {"--", "sh", "-c", "read line; echo \"$line $1 $2\"; echo err >&2; exit 7", "sh", "--", "a b"}, "in\n");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.output, "in -- a b\n");
  EXPECT_EQ(result.errors, "err\nsukima: 'sh' wrote no trace: it does not use Sukima, or ended by _exit\n");
}

TEST_F(explain_command, says_what_is_wrong_with_a_trace_that_a_program_left) {
  const auto result = explain({"--", "sh", "-c", "echo nonsense > \"$SUKIMA_TRACE\"; exit 3"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.errors.find("is not JSON"), std::string::npos) << result.errors;
}

TEST_F(explain_command, ends_by_the_signal_that_ended_the_program) {
  const auto result = explain({"--", "sh", "-c", "kill -USR1 $$"});
  EXPECT_EQ(result.signal, SIGUSR1);
  EXPECT_NE(result.errors.find("ended by a signal"), std::string::npos) << result.errors;
}

TEST_F(explain_command, passes_signals_to_the_program) {
  // The parent of the tests may ignore or block the signal; a shell could not trap it then.
  signal(SIGTERM, SIG_DFL);
  sigset_t terminate;
  sigemptyset(&terminate);
  sigaddset(&terminate, SIGTERM);
  pthread_sigmask(SIG_UNBLOCK, &terminate, nullptr);
  const std::string ready = (folder / "ready").string();
  const std::string script = "'" SUKIMA_PROGRAM "' explain -- sh -c 'trap \"exit 9\" TERM; : > " + ready +
                             "; while :; do :; done' & "
                             "while ! [ -e " +
                             ready + " ]; do sleep 0.05; done; kill -TERM $!; wait $!; echo $?";
  const auto result = run({"/bin/sh", "-c", script});
  EXPECT_EQ(result.output, "9\n") << result.errors;
}

}  // namespace
}  // namespace sukima::cli::explain
