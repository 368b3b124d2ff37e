// SPDX-License-Identifier: Apache-2.0
// A finished run of several nodes: how each node ended, and its counts of messages and tasks. `sukima cluster
// run` writes it as text and as JSON, and `sukima explain` reads the JSON.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::cli {

/// A node of a run.
struct cluster_node {
  int exit_code = 0;
  int signal = 0;  ///< the signal that ended it; 0: it ended by itself
  std::string host{};  ///< empty: it ran on this machine
  /// Its counts, with the names of sukima::cluster::traffic; empty: it has reported none.
  std::map<std::string, std::uint64_t> counts{};
};

/// A run of `sukima cluster run`.
struct cluster_run {
  double seconds = 0;  ///< from the start of the launcher until all nodes had ended
  bool hope = false;  ///< hierarchical omission
  std::vector<cluster_node> nodes{};  ///< by their numbers; at least one
};

/// Returns the run as an object, for `--json`. O(nodes).
nlohmann::ordered_json json_of(const cluster_run& run);

/// Returns whether a text begins like that object. O(1).
bool is_cluster_run(std::string_view text);

/// Reads that object. O(size of the text).
/// \param name  the name of the text in messages
/// \throws process::usage_error the text is damaged
cluster_run read_cluster_run(std::string_view text, const std::string& name);

/// Returns the run as text of several lines: the failed ends of nodes, and a table of the counts. The table
/// shows the sum over all nodes, the mean, and the largest count with its node. O(nodes).
std::string text_of(const cluster_run& run);

/// Returns the sums over all nodes by name, as an object. `other_messages` is the number of messages of kinds
/// without their own count. `messages_without_mediators` is present if reports were sent through mediators.
/// O(nodes).
nlohmann::ordered_json totals_of(const cluster_run& run);

/// Returns sentences with advice, at least one. O(nodes).
std::vector<std::string> advice_on(const cluster_run& run);

}  // namespace sukima::cli
