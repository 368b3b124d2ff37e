// SPDX-License-Identifier: Apache-2.0
// Recordings of a program, for `sukima objects record` (docs/objects-planning.md): the number of messages
// that each stream carries, and the time that each object computes for one message. The files of this folder
// measure a run.
//
// SUKIMA_OBJECTS_RECORD=SECONDS:FILE requests a recording. The first program that finds no such file makes
// it, runs simulated, and writes the recording there when its objects have ended. After SECONDS it writes the
// part recorded so far, and the process ends at once.
//
// All objects are in one island, so one of them runs at a time. Recording costs other programs nothing: the
// operations of a recorded program take their slow paths, and these call this class.
#pragma once

#include <base/shared/descriptor.hpp>
#include <sukima/objects/core.hpp>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "recording/recorded_times.hpp"
#include "recording/time_off_cpu.hpp"

namespace sukima {
class runtime;
}

namespace sukima::objects::detail {

/// Messages that an object has received from a stream.
struct recorded_input {
  const stream_core* stream;
  double messages;
};
/// Messages that an object has sent after a message of that input; null: before its first message.
struct recorded_output {
  const stream_core* stream;
  const stream_core* input;
  double messages;
};

/// The counts and times of an object. An *activation* is the work of the object for one received message, or,
/// before it has received any, for one message that it sends.
struct recorded_object {
  std::vector<recorded_input> inputs;
  std::vector<recorded_output> outputs;
  recorded_times times, first_times;
  double activations = 0;
  double last_ticks = 0, last_blocked = 0;  ///< copies of after_end, which the watching thread reads

  // The operation that is running, or the last one.
  const stream_core* stream = nullptr;
  bool is_out = false;
  bool inside = false;
  bool has_waited = false;  ///< whether that operation has waited
  std::uint64_t index = 0;  ///< index of the stream when other objects could last have changed it
  // The present activation.
  const stream_core* input = nullptr;
  double batch = 1;  ///< number of messages received together
  bool sampled = true;
  std::uint64_t mark = 0;  ///< ticks when it left the last operation
  double computed = 0;  ///< ticks of computing so far, without the cost of recording
  double blocked = 0;  ///< ticks of sleeping in the kernel so far
  /// Whether its last receive operation found the end of the stream. An object that collects all messages
  /// computes most from then on, so that time is always measured, and belongs to no single activation.
  bool at_end = false;
  double after_end = 0, blocked_after_end = 0;  ///< as `computed` and `blocked`, while at_end was true
  /// Ticks of the timed intervals, if the recording keeps them: those after an operation that has waited, and
  /// the other ones.
  std::vector<double> intervals_after_waits, intervals;
};

/// The recording of a running program.
class recording {
 public:
  /// Returns the recording that the environment requests, after measuring the cost of recording; null if it
  /// requests none.
  /// \throws bad_setting; as program::run
  static std::unique_ptr<recording> wanted(runtime& on);
  recording(double seconds, descriptor file, const recording_cost& cost);
  /// A recording that keeps all intervals, instead of writing a file.
  recording() : recording(0, descriptor(), {}) {}
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;
  ~recording();

  /// Begins the recording. \pre the objects have fibers, and none has run
  void begin(program_core& of);
  /// Writes the recording. \pre the objects have ended
  void end(bool failed);

  // The following functions are for the running object.
  void start(object_core& me);
  void begin_operation(object_core& me, const stream_core& s, bool out);
  /// Called after a wait, in which other objects may have moved the stream's index.
  void waited(object_core& me);
  /// \returns whether other objects should run first; then go_on must follow
  bool end_operation(object_core& me);
  void go_on(object_core& me);
  /// Called when an exception ends an operation, because its stream is broken or has failed.
  void leave_operation(object_core& me);
  /// Called before a sleep, which does not count as computing; then go_on must follow.
  void pause(object_core& me);
  void finish(object_core& me);

  /// Returns the ticks between two operations of the object with that number. \pre the recording keeps
  /// intervals, and has ended
  const std::vector<double>& intervals(std::size_t object, bool after_waits = false) const {
    return after_waits ? objects_[object].intervals_after_waits : objects_[object].intervals;
  }

 private:
  void begin_interval(recorded_object& one) noexcept;
  void add_interval(recorded_object& one, std::optional<recorded_side> after);
  static void look_at_index(recorded_object& one) noexcept;
  void watch();
  void write(const char* part);
  void count(recorded_object& one, double messages);
  static void publish_after_end(recorded_object& one) noexcept;
  void end_activation(recorded_object& one);
  /// \returns the number of messages that the operation has moved
  std::uint64_t finish_operation(recorded_object& one);
  std::string text(const char* part) const;

  const double seconds_;
  const descriptor file_;  ///< empty: the recording keeps the intervals
  const recording_cost cost_;
  const program_core* of_ = nullptr;
  std::vector<recorded_object> objects_;
  time_off_cpu off_cpu_;
  unsigned in_slice_ = 0;
  std::uint64_t random_ = 1;
  clock::time_point began_;
  std::uint64_t began_ticks_ = 0;
  std::mutex lock_;  ///< guards the counts and times, which the watching thread reads
  std::condition_variable ended_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace sukima::objects::detail
