// SPDX-License-Identifier: Apache-2.0
// The running host: its sources, read at intervals.
#pragma once

#include <atomic>
#include <chrono>
#include <host/shared/observer.hpp>
#include <memory>
#include <string>
#include <vector>

namespace sukima::cli::host {

namespace model = sukima::host;

struct live_options {
  /// Where from; all empty: whatever is found.
  std::string connect, domstats;
  std::vector<std::string> qmp, cgroups;
  /// A recorded machine, instead of this one.
  std::string root;
  double interval = 1;  ///< seconds between two readings
};

/// Reads the host at each interval.
class live_host {
 public:
  /// Opens the sources. \throws usage_error if one that was asked for cannot be used
  explicit live_host(const live_options& options);

  /// Waits for the next reading's time (not before the first one), and takes it. Once `stopped` is set, by a
  /// signal's handler, it returns without a reading.
  /// \throws usage_error if nothing can be read, the first time; later that is a note
  void next(const std::atomic<bool>* stopped = nullptr);
  /// Takes two readings, unless the counters cannot change. seen() has what happened between them.
  void measure();

  const model::observer& seen() const { return observer_; }
  /// The description of the first reading.
  const model::description& first() const { return first_; }
  /// A sentence for each source that could not be read; each is reported once.
  std::vector<std::string> take_notes();
  /// The sources by name.
  const std::string& sources() const { return sources_; }
  /// One sentence about the reason why no machine was found.
  std::string nothing() const;

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
  bool begun_ = false;
  std::string no_libvirt_, no_groups_;
  std::vector<std::string> notes_, noted_;
};

}  // namespace sukima::cli::host
