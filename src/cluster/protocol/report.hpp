// SPDX-License-Identifier: Apache-2.0
// What a node reports to the launcher that has started it: lines in its stderr, which begin with a mark that
// the launcher has drawn for the run. The launcher takes them out again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::cluster {

struct node_report {
  enum class what : std::uint8_t {
    meets,  ///< it has begun its first entry, and waits there for the other nodes
    met,    ///< all nodes have come
    fails,  ///< it ends with this status, for the reason in the sentence
    differs,  ///< the same, and the run has failed: nodes do not run the same program
  } kind = what::meets;
  int status = 0;
  int lost = -1;  ///< the node whose loss is the reason; -1: the reason is another one
  std::string sentence{};
};

/// One line, which a single write(2) to a pipe does not tear apart: in the sentence newlines become blanks,
/// and what is too long is left out.
std::string write_report(std::string_view mark, const node_report& report);

/// Whether there is a report, if only its beginning.
bool has_report(std::string_view arrived, std::string_view mark);
/// Takes all complete reports out of what has arrived, and leaves the rest. Malformed ones vanish.
std::vector<node_report> take_reports(std::string& arrived, std::string_view mark);

}  // namespace sukima::cluster
