// SPDX-License-Identifier: Apache-2.0
// Reads the data of a thread from /proc; see threads.hpp.
#include "source/threads.hpp"

#include <capacity/shared/schedstat.h>

#include "shared/description.hpp"
#include "source/files.hpp"

namespace sukima::host {
namespace {

/// Positions of fields of /proc/PID/stat after the name, which is in brackets and may contain blanks and
/// brackets. proc(5) counts fields from 1, and the third field is the first one after the name.
constexpr std::size_t begun_field = 22 - 3, last_cpu_field = 39 - 3;

std::string_view after(std::string_view line, std::string_view key) {
  return line.starts_with(key) ? trimmed(line.substr(key.size())) : std::string_view();
}

std::vector<std::string_view> stat_fields(const std::string& text) {
  const std::size_t end = text.rfind(')');
  return end == std::string::npos ? std::vector<std::string_view>{}
                                  : words_of(std::string_view(text).substr(end + 1));
}

}  // namespace

std::optional<thread_facts> read_thread(const std::string& root, long thread) {
  // /proc/TID exists for each thread, although no listing shows it.
  const std::string folder = root + "/proc/" + std::to_string(thread);
  thread_facts result;
  const auto status = read_text(folder + "/status");
  if (!status) return std::nullopt;
  for (const std::string_view line : lines_of(*status)) {
    if (const auto group = number_of(after(line, "Tgid:"))) result.process = static_cast<long>(*group);
    if (const auto list = after(line, "Cpus_allowed_list:"); !list.empty()) {
      try {
        result.cpus = parse_cpu_list(list);
      } catch (const description_error&) {
        result.cpus.clear();
      }
    }
  }
  // Read the files below the process, which are the thread's own: /proc/TID/stat has sums over all threads of
  // the process.
  const std::string own =
      root + "/proc/" + std::to_string(result.process) + "/task/" + std::to_string(thread);
  const auto counters = read_text(own + "/schedstat");
  cap_schedstat counted;
  if (!counters || !cap_schedstat_parse(counters->data(), counters->size(), &counted)) return std::nullopt;
  result.ran = static_cast<double>(counted.run_ns) * 1e-9;
  result.waited = static_cast<double>(counted.wait_ns) * 1e-9;
  const std::string stat = read_text(own + "/stat").value_or("");
  if (const auto fields = stat_fields(stat); fields.size() > last_cpu_field)
    if (const auto cpu = number_of(fields[last_cpu_field]); cpu && *cpu <= most_id)
      result.last_cpu = static_cast<std::uint32_t>(*cpu);
  const std::string of_process =
      read_text(root + "/proc/" + std::to_string(result.process) + "/stat").value_or("");
  if (const auto fields = stat_fields(of_process); fields.size() > begun_field)
    result.begun = std::string(fields[begun_field]);
  return result;
}

}  // namespace sukima::host
