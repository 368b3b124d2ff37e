// SPDX-License-Identifier: Apache-2.0
#include "driver/process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace sukima::language {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void note_interruption(int signal) { interrupted = signal; }

std::vector<char*> pointers(const std::vector<std::string>& command) {
  std::vector<char*> result;
  for (const std::string& word : command) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

void report_failure(const std::string& program) {
  std::fprintf(stderr,
               "sukima cc: cannot start '%s': %s; select a C compiler with --backend=COMPILER or SUKIMA_CC\n",
               program.c_str(), std::strerror(errno));
}

/// Prints the lines that come from a pipe on stderr, changed, and closes it.
void pass_on(int messages, const line_change& change) {
  std::FILE* const in = fdopen(messages, "r");
  if (in == nullptr) return;
  char* line = nullptr;
  std::size_t room = 0;
  for (ssize_t length = 0; (length = getline(&line, &room, in)) >= 0;) {
    std::string text(line, static_cast<std::size_t>(length));
    if (text.ends_with('\n')) text.pop_back();
    std::fprintf(stderr, "%s\n", change(text).c_str());
  }
  std::free(line);
  std::fclose(in);
}

}  // namespace

int run_program(const std::vector<std::string>& command, const line_change& change) {
  const std::vector<char*> arguments = pointers(command);
  std::fflush(stdout);
  int messages[2] = {-1, -1};
  if (change && pipe2(messages, O_CLOEXEC) != 0) {
    report_failure(command.front());
    return 127;
  }
  const pid_t child = fork();
  if (child < 0) {
    report_failure(command.front());
    return 127;
  }
  if (child == 0) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
    if (change) dup2(messages[1], STDERR_FILENO);
    execvp(arguments[0], arguments.data());
    report_failure(command.front());
    _exit(127);
  }
  if (change) {
    close(messages[1]);
    pass_on(messages[0], change);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    if (interrupted != 0) kill(child, interrupted);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int become_program(const std::vector<std::string>& command) {
  const std::vector<char*> arguments = pointers(command);
  std::fflush(stdout);
  execvp(arguments[0], arguments.data());
  report_failure(command.front());
  return 127;
}

std::string quoted_command(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    if (!text.empty()) text += ' ';
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789_-+=./,:@%") == std::string::npos;
    if (plain) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

work_folder::work_folder() {
  const char* base = std::getenv("TMPDIR");
  std::string pattern = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/sukima-cc-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(),
                            "cannot create a temporary folder '" + pattern + "'");
  path_ = pattern;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action{};
    action.sa_handler = note_interruption;
    sigaction(signal, &action, nullptr);
  }
}

work_folder::~work_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  if (interrupted != 0) std::raise(interrupted);
}

}  // namespace sukima::language
