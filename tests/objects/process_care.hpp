// SPDX-License-Identifier: Apache-2.0
// Runs programs under the supervision of a test, and waits for the processes that they leave.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace support {

/// Starts a program. Its orphans become children of this process.
/// \param output the descriptor of its stdout
/// \param model  the value of SUKIMA_OBJECTS
inline pid_t start(const char* program, std::vector<std::string> words, int output = STDOUT_FILENO,
                   const char* model = "processes") {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  words.insert(words.begin(), program);
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  const pid_t id = fork();
  if (id == 0) {
    setenv("SUKIMA_OBJECTS", model, 1);
    dup2(output, STDOUT_FILENO);
    execv(program, arguments.data());
    _exit(127);
  }
  return id;
}

/// Reaps the processes that the program has left. Does not return while a process still runs.
inline void await_no_process() {
  while (waitpid(-1, nullptr, 0) >= 0 || errno == EINTR) {
  }
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace support
