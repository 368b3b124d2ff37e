// SPDX-License-Identifier: Apache-2.0
#include "driver/run_program.hpp"

#include <base/shared/assert.hpp>
#include <base/shared/descriptor.hpp>
#include <base/shared/errors.hpp>
#include <base/shared/limit_advice.hpp>
#include <base/shared/start_program.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <system_error>
#include <utility>

namespace sukima::language {
namespace {

constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP};

// Written while the ending signals are blocked, or in their handler.
volatile std::sig_atomic_t interrupted = 0;
volatile std::sig_atomic_t running = 0;  ///< the program that this process waits for, or 0

/// Forwards a signal to the program, so that the program also ends. This process may be reading its messages
/// or be about to wait for it.
void note_interruption(int signal) {
  interrupted = signal;
  if (running != 0) kill(running, signal);
}

/// Blocks the ending signals while an object exists.
class held_signals {
 public:
  held_signals() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : ending_signals) sigaddset(&held, signal);
    sigprocmask(SIG_BLOCK, &held, &before_);
  }
  ~held_signals() { release(); }
  held_signals(const held_signals&) = delete;
  held_signals& operator=(const held_signals&) = delete;
  void release() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

/// Sets the handler of all ending signals, except those that this process ignores, as under nohup.
void handle_ending_signals(void (*handler)(int)) {
  for (const int signal : ending_signals) {
    struct sigaction action{};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = handler;
    sigaction(signal, &action, nullptr);
  }
}

/// Refuses a program that cannot be started because of its name or its file. If the system has reached a
/// limit, the command line may be right.
[[noreturn]] void refuse(const std::string& program, int error) {
  const std::string what = "cannot start '" + program + "'";
  if (!advice_on_limit(error).empty()) throw std::system_error(error, std::generic_category(), what);
  throw process::usage_error(
      what + ": " + std::strerror(error) +
      "; select a C compiler with --backend=COMPILER or SUKIMA_CC, and the program that starts it with "
      "--launcher=PROGRAM");
}

/// Prints the changed lines from a pipe on stderr, and closes the pipe.
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

int run_program(const std::vector<std::string>& command, const line_change& change, bool is_silent) {
  SUKIMA_ASSERT(running == 0, "this process waits for one program at a time");
  std::fflush(stdout);
  pid_t child = -1;
  pipe_ends messages;
  try {
    if (change) messages = make_pipe("no pipe for the messages of the compiler");
    const descriptor nowhere(is_silent ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1);
    const held_signals until_it_is_known;
    if (interrupted != 0) return 128 + interrupted;
    child = process::start_program({.arguments = command,
                                    .environment = process::environment_with({}),
                                    .searches_path = true,
                                    .prepare = [&] {
                                      handle_ending_signals(SIG_DFL);
                                      until_it_is_known.release();
                                      if (change) dup2(messages.write_end.get(), STDERR_FILENO);
                                      if (is_silent) dup2(nowhere.get(), STDERR_FILENO);
                                      return true;
                                    }});
    running = child;
  } catch (const std::system_error& error) {
    refuse(command.front(), error.code().value());
  }
  if (change) {
    messages.write_end.reset();
    pass_on(messages.read_end.release(), change);
  }
  // The program is not reaped yet. Until then its number belongs to it, so the handler cannot signal another
  // one.
  siginfo_t ended;
  while (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  const held_signals while_it_goes;
  int status = 0;
  waitpid(child, &status, 0);
  running = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int become_program(const std::vector<std::string>& command) {
  std::vector<std::string> words = command;
  const std::vector<char*> arguments = process::pointers_to(words);
  SUKIMA_ASSERT(arguments.size() == command.size() + 1 && arguments.back() == nullptr,
                "a null pointer ends the words of a command");
  std::fflush(stdout);
  execvp(arguments[0], arguments.data());
  refuse(command.front(), errno);
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

work_folder::work_folder(const std::string& name)
    : folder_(std::in_place, "cc",
              name.empty()
                  ? ""
                  : std::to_string(geteuid()) + "-" + std::to_string(std::hash<std::string>{}(name))) {
  handle_ending_signals(note_interruption);
}

work_folder::~work_folder() {
  folder_.reset();
  handle_ending_signals(SIG_DFL);
  if (interrupted != 0) std::raise(interrupted);
}

std::string name_for_a_cache(const std::vector<std::string>& arguments) {
  std::string name;
  for (auto one = arguments.begin(); one != arguments.end(); ++one) {
    if (*one == "-o" && one + 1 != arguments.end())
      ++one;
    else if (!one->starts_with("-o"))
      name += *one + '\n';
  }
  return name;
}

}  // namespace sukima::language
