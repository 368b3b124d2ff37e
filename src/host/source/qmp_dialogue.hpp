// SPDX-License-Identifier: Apache-2.0
// The dialogue with QEMU's monitor (QMP). It has no socket, so tests can replay recordings. Source: QEMU's
// documentation, "QEMU Machine Protocol Specification" and "QMP Reference Manual".
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "source/qmp_objects.hpp"

namespace sukima::host {

/// A virtual CPU, and the thread of QEMU that runs it, as numbered in QEMU's PID namespace.
struct qmp_vcpu {
  std::uint32_t id;
  long thread;
};

/// A machine as its monitor describes it.
struct qmp_machine {
  std::string name;  ///< empty if it has none
  std::string uuid;  ///< empty if it has none
  bool running = true;
  std::vector<qmp_vcpu> vcpus;  ///< by ascending id
  /// How many more virtual CPUs could be plugged in.
  std::size_t pluggable = 0;
};

/// One dialogue: a greeting, then all queries at once, then the answers in any order, with events in between.
class qmp_dialogue {
 public:
  /// Takes bytes from the monitor: parts of JSON objects, cut anywhere. Takes linear time.
  void receive(std::string_view bytes);
  /// Returns the bytes to send now. Each byte is returned once.
  std::string take_questions();
  /// Whether all answers have arrived or the dialogue has failed, so that it needs no more bytes.
  bool ended() const { return ended_; }
  /// Why it failed, as a text that follows the socket's name in a sentence; empty if it did not fail.
  const std::string& failure() const { return failure_; }
  /// \pre ended() without failure()
  const qmp_machine& machine() const { return machine_; }

 private:
  void take_object(std::string_view text);
  void take_answer(const std::string& id, const nlohmann::json& answer);
  void fail(std::string why);

  qmp_objects objects_;
  bool greeted_ = false, ended_ = false;
  std::string questions_, failure_;
  std::uint32_t answered_ = 0;  // one bit for each query
  qmp_machine machine_;
};

}  // namespace sukima::host
