// SPDX-License-Identifier: Apache-2.0
// The processes of a program: the parent starts this program once more for each, and watches until they end.
// The files of this folder are about programs of several processes: their memory, doorbells, start and death.
#pragma once

#include "process/segment.hpp"

#include <sys/types.h>
#include <base/shared/descriptor.hpp>

#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sukima::objects::detail {

/// The environment variable of a child: the numbers of its socket, of the memory file and of the process.
inline constexpr const char* child_variable = "SUKIMA_OBJECTS_CHILD";
inline constexpr std::size_t most_report = 4096;

/// The first byte of a child's report to its parent, over its socket; a text follows.
enum class report : char {
  ready = 'r',  ///< its declarations are those of the parent, and it begins
  differs = 'd',  ///< its declarations differ
  failed = 'f',  ///< an object ended by an exception
  suffered = 's',  ///< an object ended by an exception that follows from another object's end
  done = 'e',  ///< all its objects have ended
};

/// The child's side of the connection, in a process that a program has started.
class child_role {
 public:
  /// Takes the role from the environment, and removes it there. \returns null if this process has none
  static std::unique_ptr<child_role> take();
  child_role(int socket, int file, std::uint32_t process);
  const segment& memory() const noexcept { return memory_; }
  std::uint32_t process() const noexcept { return process_; }
  void send(report kind, const std::string& text) const noexcept;
  /// Starts a thread that ends this process when the parent is dead.
  void follow_parent() const;
  /// Flushes the printed output, and ends the process.
  [[noreturn]] void end() const;

 private:
  descriptor socket_;
  segment memory_;
  std::uint32_t process_;
};

/// The children of this process, until all have ended. Destroying it ends them.
class child_processes {
 public:
  child_processes(program_core& of, const segment& memory) : of_(of), memory_(memory) {}
  child_processes(const child_processes&) = delete;
  child_processes& operator=(const child_processes&) = delete;
  ~child_processes();

  /// Starts all children and waits until they are ready. \param argv of main
  /// \param folder a descriptor of the current folder in which they begin main; -1: this process's
  /// \throws std::system_error; usage_error if a child has other declarations; object_failed if a child has
  ///         ended
  void start(char** argv, int folder);
  /// Watches the children on a thread: it passes their errors to the program, and closes the ends of dead
  /// processes (close_ends_of_dead_process).
  void watch();
  /// Waits until all children have ended.
  void wait();

 private:
  struct child {
    std::uint32_t process = 0;
    std::string name;  ///< for errors
    pid_t id = -1;
    descriptor socket;
    descriptor handle;  ///< a pidfd
    bool is_ready = false;
    bool is_done = false;
    bool has_ended = false;
  };
  void start_one(child& c, char** argv, int folder);
  /// Waits until a child reports or ends. \returns false if all have ended
  bool next_event();
  void read_reports(child& c);
  void note_end(child& c);
  program_core& of_;
  const segment& memory_;
  std::vector<child> children_;
  std::exception_ptr start_error_;  ///< the reason why a child cannot take part
  std::thread thread_;
};

}  // namespace sukima::objects::detail
