// SPDX-License-Identifier: Apache-2.0
// What is said to QEMU's monitor (QMP), and what it answers: without a socket, so that recordings can be
// played. Source: QEMU's documentation, "QEMU Machine Protocol Specification" and "QMP Reference Manual".
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "source/qmp_objects.hpp"

namespace sukima::host {

/// A virtual CPU, and the thread of QEMU that runs it, by the number that QEMU knows.
struct qmp_vcpu {
  std::uint32_t id;
  long thread;
};

/// What a machine says of itself.
struct qmp_machine {
  std::string name;  ///< empty if it has none
  std::string uuid;  ///< empty if it has none
  bool running = true;
  std::vector<qmp_vcpu> vcpus;  ///< by ascending id
  /// How many more could be plugged in.
  std::size_t pluggable = 0;
};

/// One conversation: a greeting, then all questions at once, then the answers in any order, with events in
/// between.
class qmp_dialogue {
 public:
  /// What came from the monitor: parts of JSON objects, cut anywhere. Takes linear time.
  void receive(std::string_view bytes);
  /// Returns the bytes to send now, once.
  std::string take_questions();
  /// All answers came, or something is wrong: nothing more is wanted.
  bool ended() const { return ended_; }
  /// Why it failed, to follow the name of the socket in a sentence; empty if it did not.
  const std::string& failure() const { return failure_; }
  /// Precondition: ended() without failure().
  const qmp_machine& machine() const { return machine_; }

 private:
  void take_object(std::string_view text);
  void take_answer(const std::string& id, const nlohmann::json& answer);
  void fail(std::string why);

  qmp_objects objects_;
  bool greeted_ = false, ended_ = false;
  std::string questions_, failure_;
  std::uint32_t answered_ = 0;  // a bit for each question
  qmp_machine machine_;
};

}  // namespace sukima::host
