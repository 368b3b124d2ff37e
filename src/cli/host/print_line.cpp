// SPDX-License-Identifier: Apache-2.0
// Lines about events; see print_line.hpp.
#include "host/print_line.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "shared/console.hpp"

namespace sukima::cli::host {

std::string time_text(std::time_t at) {
  std::tm parts{};
  localtime_r(&at, &parts);
  const long minutes = parts.tm_gmtoff / 60;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}{:02}:{:02}", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     minutes < 0 ? '-' : '+', std::labs(minutes) / 60, std::labs(minutes) % 60);
}

void print_line(const line_format& format, nlohmann::json event, const std::string& text) {
  const std::string time = format.times ? time_text(std::time(nullptr)) : "";
  if (format.json) {
    if (format.times) event["time"] = time;
    fmt::print("{}\n", event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("{}{}{}\n", time, format.times ? "  " : "", printable(text));
  }
  std::fflush(stdout);
}

}  // namespace sukima::cli::host
