// SPDX-License-Identifier: Apache-2.0
// The dialogue with QEMU's monitor (QMP) that plugs in virtual CPUs. It has no socket, so tests can replay
// recordings. Source: QEMU's documentation, "QMP Reference Manual": query-hotpluggable-cpus, device_add,
// query-cpus-fast.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "source/qmp_objects.hpp"

namespace sukima::host {

/// One dialogue. It handles the greeting, queries the places for virtual CPUs, sends one device_add after the
/// other, the lowest place first, and queries the threads of all virtual CPUs. Events may arrive in between.
class plug_dialogue {
 public:
  /// \param count the number of virtual CPUs at the end
  explicit plug_dialogue(std::size_t count) : count_(count) {}

  /// Takes bytes from the monitor: parts of JSON objects, cut anywhere. Linear time.
  void receive(std::string_view bytes);
  /// Returns the bytes to send now. Each byte is returned once.
  std::string take_commands();
  /// Whether the dialogue has finished or failed, so that it needs no more bytes.
  bool ended() const { return ended_; }
  /// Why it failed, as a text that follows the socket's name in a sentence; empty if it did not fail. Virtual
  /// CPUs that were plugged in before the failure stay.
  const std::string& failure() const { return failure_; }
  /// The number of virtual CPUs that were plugged in.
  std::size_t plugged() const { return plugged_; }
  /// The threads of all virtual CPUs, as QEMU numbers them, in the order of their ids. \pre ended() without
  /// failure()
  const std::vector<long>& threads() const { return threads_; }

 private:
  void take_object(std::string_view text);
  void take_answer(const nlohmann::json& answer);
  void take_places(const nlohmann::json& places);
  void take_threads(const nlohmann::json& vcpus);
  void send_next();
  void command(const char* name, const nlohmann::json* arguments = nullptr);
  void fail(std::string why);

  std::size_t count_;
  qmp_objects objects_;
  std::string asked_;  // the command whose answer is awaited; empty: the greeting is awaited
  std::string commands_, failure_;
  std::vector<std::string> places_;  // the arguments of the remaining device_add commands, the last one first
  std::size_t plugged_ = 0;
  std::vector<long> threads_;
  bool ended_ = false;
};

}  // namespace sukima::host
