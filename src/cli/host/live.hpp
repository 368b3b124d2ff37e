// SPDX-License-Identifier: Apache-2.0
// Reads the running host from its sources at intervals.
#pragma once

#include <atomic>
#include <chrono>
#include <host/shared/observer.hpp>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace sukima::cli::host {

namespace model = sukima::host;

struct live_options {
  /// The sources; if all are empty, whichever are found.
  std::string connect, domstats;
  std::vector<std::string> qmp, cgroups;
  /// A recorded machine to read instead of this one.
  std::string root;
  double interval = 1;  ///< seconds between two readings
};

/// Reads the host at each interval.
class live_host {
 public:
  /// Opens the sources. \throws usage_error if a source that the user named cannot be used
  explicit live_host(const live_options& options);

  /// Waits until the next reading is due (the first one is due at once), and takes it. If a signal's handler
  /// sets `stopped`, it returns without a reading.
  /// \throws usage_error if the first reading fails; a later failure becomes a note
  void next(const std::atomic<bool>* stopped = nullptr);
  /// Takes two readings, or one if the counters cannot change. seen() returns what happened between them.
  void measure();

  const model::observer& seen() const { return observer_; }
  /// The description of the first reading. Its time fits that of the latest reading even if the system's
  /// clock was set in between.
  model::description first() const;
  /// Returns a sentence for each source that could not be read. Each sentence is returned once.
  std::vector<std::string> take_notes();
  /// The sources by name.
  const std::string& sources() const { return sources_; }
  /// Returns one sentence with the reason why no machine was found.
  std::string reason_for_none() const;

 private:
  void open_given(const live_options& options, std::vector<std::unique_ptr<model::source>>& parts);
  void open_found(const live_options& options, std::vector<std::unique_ptr<model::source>>& parts);
  void add_note(const std::string& note);

  bool given_, still_;
  std::chrono::steady_clock::duration interval_;
  std::chrono::steady_clock::time_point due_;
  std::unique_ptr<model::source> source_;
  std::string sources_;
  model::observer observer_;
  model::description first_;
  double first_clock_ = 0, latest_clock_ = 0;  ///< of the readings, in seconds of a clock that never jumps
  bool begun_ = false;
  std::string no_libvirt_, no_groups_;
  std::vector<std::string> notes_;
  std::unordered_set<std::string> noted_;
};

}  // namespace sukima::cli::host
