// SPDX-License-Identifier: Apache-2.0
// Lines about events, for people or as JSON.
#pragma once

#include <ctime>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace sukima::cli::host {

/// The format of a command's lines.
struct line_format {
  bool json = false;
  bool times = false;  ///< each line begins with its time, and each object has the member `time`
};

/// Returns a local time with its offset from UTC in the format of ISO 8601: 2026-11-28T07:09:04+01:00.
std::string time_text(std::time_t at);

/// Prints one event at once: `text`, or `event` as one line of JSON.
void print_line(const line_format& format, nlohmann::json event, const std::string& text);

}  // namespace sukima::cli::host
