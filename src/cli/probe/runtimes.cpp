// SPDX-License-Identifier: Apache-2.0
// Asks runtimes for their number of threads; see runtimes.hpp.
#include "probe/runtimes.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>
#include <thread>

#include <base/shared/child.hpp>
#include <base/shared/descriptor.hpp>
#include <base/shared/executable.hpp>
#include <base/shared/interruption.hpp>
#include <base/shared/temporary_directory.hpp>

namespace sukima::cli::probe {
namespace {

constexpr std::chrono::seconds patience{10};

/// A runtime that is asked by running a program.
struct command_question {
  const char* runtime;
  std::vector<std::string> command;  ///< the first element is searched in PATH
  const char* before;  ///< the text before the number in the output; "": the number begins the output
  const char* source;
};

/// A runtime that is asked by loading its library into a child process and calling a function.
struct library_question {
  const char* runtime;
  std::array<const char*, 2> libraries;  ///< the first one that can be loaded is used
  const char* function;
  const char* source;
};

const std::array library_questions{
    library_question{
        "OpenMP (libgomp)", {"libgomp.so.1", nullptr}, "omp_get_max_threads", "omp_get_max_threads"},
    library_question{
        "OpenMP (libomp)", {"libomp.so.5", "libiomp5.so"}, "omp_get_max_threads", "omp_get_max_threads"},
    // int max_concurrency(const task_arena_base*): a null pointer means the default arena.
    library_question{"oneTBB",
                     {"libtbb.so.12", nullptr},
                     "_ZN3tbb6detail2r115max_concurrencyEPKNS0_2d115task_arena_baseE",
                     "this_task_arena::max_concurrency"},
    library_question{
        "OpenBLAS", {"libopenblas.so.0", nullptr}, "openblas_get_num_threads", "openblas_get_num_threads"},
};

std::vector<command_question> command_questions() {
  return {
      {"nproc", {"nproc"}, "", "nproc"},
      {"Python", {"python3", "-c", "import os; print(os.cpu_count())"}, "", "os.cpu_count"},
      {"Python, affinity",
       {"python3", "-c", "import os; print(len(os.sched_getaffinity(0)))"},
       "",
       "os.sched_getaffinity"},
      {"Node.js",
       {"node", "-e",
        "const os = require('os'); console.log(os.availableParallelism ? "
        "os.availableParallelism() : os.cpus().length)"},
       "",
       "os.availableParallelism"},
      {"Java",
       {"java", "-XshowSettings:system", "-version"},
       "Effective CPU Count: ",
       "-XshowSettings:system"},
      {"Julia", {"julia", "--startup-file=no", "-e", "print(Sys.CPU_THREADS)"}, "", "Sys.CPU_THREADS"},
      {"Ruby", {"ruby", "-retc", "-e", "puts Etc.nprocessors"}, "", "Etc.nprocessors"},
      {"Erlang",
       {"erl", "-noshell", "-eval", "io:format(\"~p\", [erlang:system_info(schedulers_online)]), halt()."},
       "",
       "schedulers_online"},
      {"R", {"Rscript", "-e", "cat(parallel::detectCores())"}, "", "detectCores"},
  };
}

std::optional<unsigned> number_in(const std::string& text, const std::string& before) {
  const std::size_t place = text.find(before);
  if (place == std::string::npos) return std::nullopt;
  const char* const begin = text.data() + place + before.size();
  unsigned number = 0;
  const auto [end, failure] = std::from_chars(begin, text.data() + text.size(), number);
  return failure == std::errc() && end != begin ? std::optional(number) : std::nullopt;
}

/// Returns all variables of this process, because runtimes read some of them.
std::vector<std::pair<std::string, std::string>> whole_environment() {
  std::vector<std::pair<std::string, std::string>> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

/// \param command the program's file and its arguments
runtime_answer ask_command(const std::string& runtime, const std::vector<std::string>& command,
                           const std::string& before, const std::string& source) {
  runtime_answer answer{runtime, std::nullopt, source};
  try {
    const process::child_result result = process::run_child(
        {.arguments = command, .environment = whole_environment(), .input = {}, .limit = patience});
    const std::string failure = process::describe_failure(result, patience);
    answer.threads = number_in(result.output + result.errors, before);
    if (!answer.threads)
      answer.source =
          failure.empty() ? fmt::format("{} gave no number", source) : fmt::format("it {}", failure);
  } catch (const std::system_error& error) {
    answer.source = fmt::format("cannot be started ({})", error.code().message());
  }
  return answer;
}

/// Writes the result of the function in the first library that can be loaded. It runs in a child process; the
/// end of the child unloads the library.
[[noreturn]] void answer_as_child(const library_question& question, int to) {
  int number = -1;
  for (const char* const name : question.libraries) {
    void* const library = name != nullptr ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (library == nullptr) continue;
    int (*function)(const void*) = nullptr;  // functions without a parameter ignore the argument
    *reinterpret_cast<void**>(&function) = dlsym(library, question.function);
    number = function != nullptr ? function(nullptr) : 0;
    break;
  }
  const ssize_t written = write(to, &number, sizeof number);
  _exit(written == sizeof number ? 0 : 1);
}

/// Returns nothing if no such library is installed.
std::optional<runtime_answer> ask_library(const library_question& question) {
  pipe_ends channel = make_pipe("no pipe for the answer of a runtime");
  const pid_t child = fork();
  if (child == 0) answer_as_child(question, channel.write_end.get());
  if (child < 0)
    return runtime_answer{question.runtime, std::nullopt,
                          fmt::format("cannot be asked ({})", std::strerror(errno))};
  channel.write_end.reset();
  int number = -1;
  pollfd readable{channel.read_end.get(), POLLIN, 0};
  const bool in_time = poll(&readable, 1, static_cast<int>(patience.count()) * 1000) == 1;
  const bool answered = in_time && read(channel.read_end.get(), &number, sizeof number) == sizeof number;
  if (!answered) kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  if (answered && number < 0) return std::nullopt;
  runtime_answer answer{question.runtime, std::nullopt, question.source};
  if (answered && number > 0) {
    answer.threads = static_cast<unsigned>(number);
  } else {
    answer.source = fmt::format("{} gave no number", question.source);
  }
  return answer;
}

std::optional<std::string> installed(const std::string& program) {
  const auto file = process::find_program(program, std::getenv("PATH"));
  return file ? std::optional(file->string()) : std::nullopt;
}

/// Writes a program of a few lines, compiles it if necessary, and runs it.
void ask_compiled(std::vector<runtime_answer>& answers) {
  const auto go = installed("go"), rustc = installed("rustc");
  if (!go && !rustc) return;
  const process::temporary_directory folder("probe");
  const process::removed_on_signal cleanup(folder.path(), process::directory_contents::files);
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder.path() + "/" + name) << text;
    return folder.path() + "/" + name;
  };
  if (go) {
    const std::string source =
        write("main.go",
              "package main\n\nimport \"runtime\"\n\nfunc main() { print(runtime.GOMAXPROCS(0), "
              "\"\\n\") }\n");
    answers.push_back(ask_command("Go", {*go, "run", source}, "", "runtime.GOMAXPROCS"));
  }
  if (rustc) {
    const std::string source = write(
        "main.rs",
        "fn main() { println!(\"{}\", std::thread::available_parallelism().map_or(0, usize::from)); }\n");
    const std::string program = folder.path() + "/parallelism";
    runtime_answer compiled =
        ask_command("Rust (std, rayon, tokio)", {*rustc, "-o", program, source}, "", "rustc");
    if (std::ifstream(program).good())
      compiled = ask_command("Rust (std, rayon, tokio)", {program}, "", "available_parallelism");
    answers.push_back(std::move(compiled));
  }
}

}  // namespace

std::vector<runtime_answer> ask_runtimes() {
  std::vector<runtime_answer> answers;
  answers.push_back({"C library", static_cast<unsigned>(get_nprocs()), "get_nprocs"});
  answers.push_back({"C++", std::thread::hardware_concurrency(), "std::thread::hardware_concurrency"});
  for (const library_question& question : library_questions)
    if (auto answer = ask_library(question)) answers.push_back(std::move(*answer));
  std::vector<command_question> questions = command_questions();
  for (command_question& question : questions) {
    const auto file = installed(question.command.front());
    if (!file) continue;
    question.command.front() = *file;
    answers.push_back(ask_command(question.runtime, question.command, question.before, question.source));
  }
  ask_compiled(answers);
  return answers;
}

}  // namespace sukima::cli::probe
