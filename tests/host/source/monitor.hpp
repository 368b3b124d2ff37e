// SPDX-License-Identifier: Apache-2.0
// A monitor of QEMU that plays a recording over a Unix socket.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

namespace sukima::host {

/// The answers of a recording, by the commands that they belong to; "greeting" and "event" are two more.
using recorded_answers = std::map<std::string, nlohmann::json>;
recorded_answers load_answers(const std::filesystem::path& file);

class monitor {
 public:
  enum class manner {
    good,
    in_pieces,  ///< one byte at a time
    pretty,  ///< over many lines, as -qmp-pretty
    silent,  ///< it accepts connections and says nothing
    broken_off,  ///< it closes the connection after the greeting
    garbage,  ///< it speaks something else
  };

  monitor(const std::filesystem::path& socket, recorded_answers answers);
  ~monitor();
  monitor(const monitor&) = delete;
  monitor& operator=(const monitor&) = delete;

  /// How it behaves from the next connection on.
  void behave(manner how) { manner_ = how; }
  /// Replaces an answer from now on; the greeting and the event from the next connection on.
  void answer(const std::string& command, nlohmann::json with);
  /// Replaces an answer from the moment on when another command has been answered.
  void answer_after(const std::string& other, const std::string& command, nlohmann::json with);

 private:
  void serve();
  void converse(int connection);
  nlohmann::json answer_to(const std::string& command);

  int listener_ = -1, stop_read_ = -1, stop_write_ = -1;
  std::atomic<manner> manner_{manner::good};
  std::mutex mutex_;
  recorded_answers answers_;
  std::map<std::string, recorded_answers> later_;
  std::thread thread_;
};

}  // namespace sukima::host
