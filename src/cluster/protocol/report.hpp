// SPDX-License-Identifier: Apache-2.0
// Reports of a node to the launcher that started it. A report is a line in the node's stderr that begins with
// a mark. The launcher draws the mark at random for the run, and removes the reports from the output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sukima::cluster {

struct node_report {
  enum class type : std::uint8_t {
    meets,  ///< the node has begun its first entry, and waits for the other nodes
    met,  ///< all nodes have arrived
    fails,  ///< the node ends with this status, for the reason in the sentence
    differs,  ///< like fails, and the whole run has failed: nodes do not run the same program
    counts,  ///< the node's program ends; the report contains its counts
  } kind = type::meets;
  int status = 0;
  int lost = -1;  ///< the node whose loss is the reason; -1: the reason is another one
  std::string sentence{};
  std::vector<std::pair<std::string, std::uint64_t>> counts{};  ///< by name: letters and underscores
};

/// Returns a report as one line, short enough that a single write(2) to a pipe writes it as a whole. Newlines
/// in the sentence become blanks. A sentence that is too long is truncated, and counts that do not fit are
/// left out.
std::string write_report(std::string_view mark, const node_report& report);

/// Whether the text contains a report, perhaps only its beginning.
bool has_report(std::string_view arrived, std::string_view mark);
/// Removes all complete reports from the received text and returns them. Malformed reports are dropped.
std::vector<node_report> take_reports(std::string& arrived, std::string_view mark);

}  // namespace sukima::cluster
