// SPDX-License-Identifier: Apache-2.0
// What is said to QEMU's monitor (QMP) to plug virtual CPUs in: without a socket, so that recordings can be
// played. Source: QEMU's documentation, "QMP Reference Manual": query-hotpluggable-cpus, device_add,
// query-cpus-fast.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "source/qmp_objects.hpp"

namespace sukima::host {

/// One conversation: the greeting; where virtual CPUs could be plugged in; one device_add after the other,
/// the lowest place first; and which threads there are then. Events may come in between.
class plug_dialogue {
 public:
  /// \param count how many virtual CPUs there should be in the end
  explicit plug_dialogue(std::size_t count) : count_(count) {}

  /// What came from the monitor: parts of JSON objects, cut anywhere. Linear time.
  void receive(std::string_view bytes);
  /// Returns the bytes to send now, once.
  std::string take_commands();
  /// All is done, or something is wrong: nothing more is wanted.
  bool ended() const { return ended_; }
  /// Why it failed, to follow the name of the socket in a sentence; empty if it did not. What was plugged in
  /// before stays.
  const std::string& failure() const { return failure_; }
  /// How many were plugged in.
  std::size_t plugged() const { return plugged_; }
  /// The threads of all virtual CPUs by QEMU's numbers, in the order of their ids. Precondition: ended()
  /// without failure().
  const std::vector<long>& threads() const { return threads_; }

 private:
  void take_object(std::string_view text);
  void take_answer(const nlohmann::json& answer);
  void take_places(const nlohmann::json& places);
  void take_threads(const nlohmann::json& vcpus);
  void go_on();
  void command(const char* name, const nlohmann::json* arguments = nullptr);
  void fail(std::string why);

  std::size_t count_;
  qmp_objects objects_;
  std::string asked_;  // the command whose answer is awaited; empty: the greeting
  std::string commands_, failure_;
  std::vector<std::string> places_;  // the arguments of each device_add to come, the last one first
  std::size_t plugged_ = 0;
  std::vector<long> threads_;
  bool ended_ = false;
};

}  // namespace sukima::host
