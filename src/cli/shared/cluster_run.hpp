// SPDX-License-Identifier: Apache-2.0
// A finished run of several nodes: how each node ended, and the messages and tasks that it counted. `sukima
// cluster run` writes it, as text and as JSON; `sukima explain` reads the JSON.
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
  int signal = 0;  ///< that ended it; 0: it ended by itself
  std::string host{};  ///< empty: it ran on this machine
  /// Its counts, as sukima::cluster::traffic names them; empty: it has reported none.
  std::map<std::string, std::uint64_t> counts{};
};

/// A run of `sukima cluster run`.
struct cluster_run {
  double seconds = 0;  ///< from the start of the launcher until all nodes had ended
  bool hope = false;  ///< hierarchical omission
  std::vector<cluster_node> nodes{};  ///< by number, at least one
};

/// Returns the run as an object, for `--json`. O(nodes).
nlohmann::ordered_json json_of(const cluster_run& run);

/// Returns whether a text begins as that object. O(1).
bool is_cluster_run(std::string_view text);

/// Reads that object. O(size of the text).
/// \param name  of the text, for messages
/// \throws process::usage_error it is damaged
cluster_run read_cluster_run(std::string_view text, const std::string& name);

/// Returns the run as text of several lines: how nodes ended that did not end well, and a table of the
/// counts, each as the sum over all nodes, the mean, and the largest one with its node. O(nodes).
std::string text_of(const cluster_run& run);

/// Returns the sums over all nodes by name, as an object. `other_messages` is the sum of those without a
/// count of their kind; `messages_without_mediators` is there if reports went by way of mediators. O(nodes).
nlohmann::ordered_json totals_of(const cluster_run& run);

/// Returns sentences: what to try. At least one. O(nodes).
std::vector<std::string> advice_on(const cluster_run& run);

}  // namespace sukima::cli
