// SPDX-License-Identifier: Apache-2.0
// Open files, child processes and temporary folders.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <base/shared/descriptor.hpp>
#include <base/shared/errors.hpp>
#include <base/shared/limit_advice.hpp>
#include <base/shared/standard_streams.hpp>
#include <base/shared/start_program.hpp>
#include <base/shared/temporary_directory.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace {

using sukima::descriptor;

bool is_open(int number) { return fcntl(number, F_GETFD) >= 0; }

TEST(descriptor, closes_what_it_owns) {
  int number = -1;
  {
    const descriptor one(open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = one.get();
    EXPECT_TRUE(one);
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
  EXPECT_FALSE(descriptor());
}

TEST(descriptor, closes_the_one_before_it_moves_another_in) {
  descriptor one(open("/dev/null", O_RDONLY | O_CLOEXEC)), other(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int first = one.get(), second = other.get();
  one = std::move(other);
  EXPECT_FALSE(is_open(first));
  EXPECT_EQ(one.get(), second);
  const int kept = one.release();
  EXPECT_FALSE(one);
  EXPECT_TRUE(is_open(kept));
  one.reset(kept);
}

TEST(descriptor, keeps_errno_when_it_closes) {
  descriptor one(open("/dev/null", O_RDONLY | O_CLOEXEC)), twice(one.get());
  one.reset();
  errno = EXDEV;
  twice.reset();  // close fails
  EXPECT_EQ(errno, EXDEV);
}

TEST(descriptor, pipes_end_with_their_writers) {
  sukima::pipe_ends pipe = sukima::make_pipe();
  EXPECT_EQ(write(pipe.write_end.get(), "x", 1), 1);
  pipe.write_end.reset();
  char got[2];
  EXPECT_EQ(read(pipe.read_end.get(), got, sizeof got), 1);
  EXPECT_EQ(read(pipe.read_end.get(), got, sizeof got), 0);
}

int exit_code_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(start_program, passes_the_environment_and_what_was_prepared) {
  sukima::pipe_ends pipe = sukima::make_pipe();
  pid_t seen = 0;
  const pid_t child = sukima::process::start_program(
      {.arguments = {"sh", "-c", "printf %s \"$SUKIMA_WORD\"; exit 3"},
       .environment = sukima::process::environment_with({"SUKIMA_WORD=told"}),
       .searches_path = true,
       .prepare = [&] { return dup2(pipe.write_end.get(), STDOUT_FILENO) >= 0; },
       .on_fork = [&](pid_t made) { seen = made; }});
  pipe.write_end.reset();
  char got[16];
  EXPECT_EQ(read(pipe.read_end.get(), got, sizeof got), 4);
  EXPECT_EQ(std::string(got, 4), "told");
  EXPECT_EQ(exit_code_of(child), 3);
  EXPECT_EQ(seen, child);
}

/// The errno with which a start fails; 0: it does not. No child stays.
int reason_of(const sukima::process::program_start& how) {
  try {
    exit_code_of(sukima::process::start_program(how));
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find(how.arguments.front()), std::string::npos);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
    return error.code().value();
  }
  return 0;
}

TEST(start_program, reports_why_the_program_cannot_be_started) {
  EXPECT_EQ(reason_of({.arguments = {"/no/such/program"}}), ENOENT);
  EXPECT_EQ(reason_of({.arguments = {"/"}}), EACCES);
  EXPECT_EQ(reason_of({.arguments = {"/bin/true"},
                       .prepare =
                           [] {
                             errno = EXDEV;
                             return false;
                           }}),
            EXDEV);
  EXPECT_EQ(reason_of({.arguments = {"true"}}), ENOENT) << "PATH was not to be searched";
  EXPECT_EQ(reason_of({.arguments = {"true"}, .searches_path = true}), 0);
}

/// The C library reports a thread whose stack does not fit into the address space like one too many.
TEST(limit_advice, names_each_limit_that_may_have_refused_a_thread) {
  const pid_t child = fork();
  if (child == 0) {
    const auto advises = [](const char* limit) {
      return sukima::advice_on_limit(EAGAIN).find(limit) != std::string_view::npos;
    };
    rlimit space{RLIM_INFINITY, RLIM_INFINITY};
    if (getrlimit(RLIMIT_AS, &space) != 0) _exit(1);
    if (space.rlim_cur == RLIM_INFINITY && advises("ulimit -v")) _exit(2);
    space.rlim_cur = std::min<rlim_t>(rlim_t{1} << 40, space.rlim_max);
    if (setrlimit(RLIMIT_AS, &space) != 0) _exit(3);
    _exit(advises("ulimit -u") && advises("ulimit -v") ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

TEST(standard_streams, that_are_closed_keep_their_numbers) {
  const pid_t child = fork();
  if (child == 0) {
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(number);
    sukima::process::occupy_closed_streams();
    char byte = 0;
    const bool is_right =
        open("/dev/null", O_RDONLY) > STDERR_FILENO && read(STDIN_FILENO, &byte, 1) == 0 &&
        write(STDOUT_FILENO, &byte, 1) < 0 && write(STDERR_FILENO, &byte, 1) < 0 &&
        fcntl(STDOUT_FILENO, F_GETFD) == FD_CLOEXEC && sukima::process::is_closed_output("/dev/stdout") &&
        sukima::process::is_closed_output("/dev/stderr") &&
        !sukima::process::is_closed_output("/dev/stdin") && !sukima::process::is_closed_output("/dev/null");
    _exit(is_right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(standard_streams, that_are_open_stay_as_they_are) {
  const int flags = fcntl(STDERR_FILENO, F_GETFD);
  sukima::process::occupy_closed_streams();
  EXPECT_EQ(fcntl(STDERR_FILENO, F_GETFD), flags);
}

TEST(temporary_directory, goes_with_what_is_in_it) {
  std::string path;
  {
    const sukima::process::temporary_directory folder("test");
    path = folder.path();
    std::ofstream(path + "/file") << "text";
    std::filesystem::create_directory(path + "/folder");
    EXPECT_NE(path.find("/sukima-test-"), std::string::npos);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(temporary_directory, has_its_fixed_name_once_at_a_time) {
  const std::string name = std::to_string(getpid());
  std::string path;
  {
    const sukima::process::temporary_directory first("fixed", name), second("fixed", name);
    path = first.path();
    EXPECT_TRUE(path.ends_with("/sukima-fixed-" + name)) << path;
    EXPECT_NE(second.path(), path);
  }
  const sukima::process::temporary_directory again("fixed", name);
  EXPECT_EQ(again.path(), path);
}

TEST(temporary_directory, names_the_place_where_there_can_be_none) {
  const char* const before = getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  setenv("TMPDIR", "/no/such/folder", 1);
  std::string message;
  try {
    const sukima::process::temporary_directory folder("test");
  } catch (const sukima::process::usage_error& error) {
    message = error.what();
  }
  before != nullptr ? setenv("TMPDIR", kept.c_str(), 1) : unsetenv("TMPDIR");
  EXPECT_EQ(message,
            "no temporary folder can be made in '/no/such/folder', which TMPDIR names: No such file or "
            "directory; set TMPDIR to a folder with room where you can write");
}

}  // namespace
