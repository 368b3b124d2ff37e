// SPDX-License-Identifier: Apache-2.0
// What a program's objects do, for `sukima objects record` (docs/objects-planning.md): how many messages go
// where, and how long each object computes for one.
//
// SUKIMA_OBJECTS_RECORD=SECONDS:FILE asks for it. The first program that this or another process runs and
// that finds no such file makes it, runs simulated, and writes the recording there: when its objects have
// ended, or after so many seconds, and then the process ends at once.
//
// All objects are in one island, so one of them runs at a time. Nothing is added to the operations of a
// program that is not recorded: a recorded one is made to take their slow ways, which end here.
#pragma once

#include <base/shared/descriptor.hpp>
#include <sukima/objects/core.hpp>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sukima::objects::detail {

/// Messages that an object has received from a stream.
struct recorded_input {
  const stream_core* stream;
  double messages;
};
/// Messages that an object has sent after one of that input; null: before its first one.
struct recorded_output {
  const stream_core* stream;
  const stream_core* input;
  double messages;
};

/// Times of computing for one message, in ticks.
struct recorded_times {
  double count = 0, sum = 0, squares = 0;
};

/// One object. An *activation* is what it does for one message, or, until it receives something, for each
/// message that it sends.
struct recorded_object {
  std::vector<recorded_input> inputs;
  std::vector<recorded_output> outputs;
  recorded_times times, first_times;
  double activations = 0;

  // The operation that it is in, or that it has done last.
  const stream_core* stream = nullptr;
  bool out = false;
  bool inside = false;
  std::uint64_t index = 0;  ///< of the stream when nobody else could change it
  // The activation.
  const stream_core* input = nullptr;
  double batch = 1;  ///< messages that it has received at once
  bool sampled = true;
  std::uint64_t mark = 0;  ///< ticks when it left the last operation
  double computed = 0;  ///< ticks so far
};

class recording {
 public:
  /// The one that the environment asks for; null: none.
  /// \throws bad_setting
  static std::unique_ptr<recording> wanted();
  recording(double seconds, descriptor file);
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;
  ~recording();

  /// The objects have fibers, and none has run.
  void begin(program_core& of);
  /// The objects have ended.
  void end(bool failed);

  // For the object that runs.
  void start(object_core& me);
  void begin_operation(object_core& me, const stream_core& s, bool out);
  /// It has waited, so others may have moved its stream's index.
  void waited(object_core& me);
  /// \returns whether others should go first; then go_on follows
  bool end_operation(object_core& me);
  void go_on(object_core& me);
  /// It sleeps, which is not computing; then go_on follows.
  void pause(object_core& me);
  void finish(object_core& me);

 private:
  void watch();
  void write(const char* part);
  void count(recorded_object& one, double messages);
  void end_activation(recorded_object& one);
  std::string text(const char* part) const;

  const double seconds_;
  const descriptor file_;
  const program_core* of_ = nullptr;
  std::vector<recorded_object> objects_;
  unsigned in_slice_ = 0;
  std::uint64_t random_ = 1;
  double tick_cost_ = 0;
  clock::time_point began_;
  std::uint64_t began_ticks_ = 0;
  std::mutex lock_;  ///< what the watching thread reads: the counts and times
  std::condition_variable ended_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace sukima::objects::detail
