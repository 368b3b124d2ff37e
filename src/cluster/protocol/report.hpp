// SPDX-License-Identifier: Apache-2.0
// Reports of a node to the launcher that has started it: lines in its stderr that begin with a mark, which
// the launcher has drawn for the run. The launcher removes them from the output.
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
    meets,  ///< it has begun its first entry, and waits there for the other nodes
    met,  ///< all nodes have arrived
    fails,  ///< it ends with this status, for the reason in the sentence
    differs,  ///< the same, and the run has failed: nodes do not run the same program
    counts,  ///< its program ends, and this is what it has counted
  } kind = type::meets;
  int status = 0;
  int lost = -1;  ///< the node whose loss is the reason; -1: the reason is another one
  std::string sentence{};
  std::vector<std::pair<std::string, std::uint64_t>> counts{};  ///< by name: letters and underscores
};

/// Returns a report as one line, short enough that a single write(2) to a pipe writes it as a whole. In the
/// sentence newlines become blanks, and text that is too long is cut off, as are counts that are too many.
std::string write_report(std::string_view mark, const node_report& report);

/// Whether there is a report, if only its beginning.
bool has_report(std::string_view arrived, std::string_view mark);
/// Takes all complete reports out of the received text, and leaves the rest. Malformed reports are dropped.
std::vector<node_report> take_reports(std::string& arrived, std::string_view mark);

}  // namespace sukima::cluster
