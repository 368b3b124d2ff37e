// SPDX-License-Identifier: Apache-2.0
// Parses the output of virsh; see domains.hpp.
#include <algorithm>

#include "source/domains.hpp"
#include "source/files.hpp"
#include "source/names.hpp"

namespace sukima::host {
namespace {

constexpr std::size_t most_domains = 10000, most_pairs = 1000000;

/// Parses the value of CPU Affinity from `virsh vcpuinfo`, such as "yy-y".
std::vector<std::uint32_t> set_of(std::string_view marks) {
  std::vector<std::uint32_t> cpus;
  for (std::size_t i = 0; i < marks.size() && i <= most_id; ++i)
    if (marks[i] == 'y') cpus.push_back(static_cast<std::uint32_t>(i));
  return cpus;
}

std::optional<std::uint32_t> id_of(std::string_view text) {
  const auto number = number_of(text);
  if (!number || *number > most_id) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

/// Whether observe_domain reads this statistic. A domain has hundreds of others, of its disks for example.
bool is_used(std::string_view name) {
  if (name == "state.state" || name == "cpu.time" || name == "vcpu.current" || name == "vcpu.maximum")
    return true;
  constexpr std::string_view of_vcpu = "vcpu.";
  if (!name.starts_with(of_vcpu)) return false;
  const std::size_t dot = name.find('.', of_vcpu.size());
  if (dot == std::string_view::npos || !id_of(name.substr(of_vcpu.size(), dot - of_vcpu.size())))
    return false;
  const std::string_view what = name.substr(dot + 1);
  return what == "state" || what == "time" || what == "wait" || what == "delay";
}

class reader {
 public:
  std::vector<domain_record> read(std::string_view text) {
    for (const std::string_view whole : lines_of(text)) {
      ++number_;
      const std::string_view line = trimmed(whole);
      if (line.empty()) continue;
      if (line.starts_with("Domain: ")) {
        begin(line.substr(8));
      } else if (!domains_.empty()) {
        if (whole.starts_with("  "))
          take_statistic(line);
        else
          take_property(line);
      }
    }
    return std::move(domains_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw source_error("line " + std::to_string(number_) + " of the statistics: " + problem);
  }

  void begin(std::string_view quoted) {
    if (quoted.size() < 2 || quoted.front() != '\'' || quoted.back() != '\'')
      fail("it must be as virsh domstats prints it, Domain: 'NAME'");
    if (domains_.size() == most_domains) fail("there are more than 10,000 domains");
    domains_.emplace_back();
    domains_.back().name = quoted.substr(1, quoted.size() - 2);
  }

  void take_statistic(std::string_view line) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0)
      fail("'" + printable_name(line.substr(0, 40)) + "' is not a statistic such as vcpu.0.time=1000");
    const std::string_view name = line.substr(0, equals);
    if (!is_used(name)) return;
    count_pair();
    domains_.back().statistics[std::string(name)] = line.substr(equals + 1);
  }

  void count_pair() {
    if (++pairs_ > most_pairs) fail("there are more than a million of them");
  }

  /// Parses a line "Key  : value" of schedinfo, vcpuinfo or dominfo.
  void take_property(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const std::string key(trimmed(line.substr(0, colon)));
    const std::string_view value = trimmed(line.substr(colon + 1));
    count_pair();
    domain_record& domain = domains_.back();
    if (key == "Scheduler")
      domain.scheduler = value;
    else if (key == "UUID")
      domain.uuid = value;
    else if (key == "Id")
      domain.run = value;
    else if (key == "VCPU") {
      domain.vcpus.emplace_back();
      const auto id = id_of(value);
      if (!id) fail("it must be the number of a virtual CPU");
      domain.vcpus.back().id = *id;
    } else if (key == "CPU" && !domain.vcpus.empty())
      domain.vcpus.back().last_pcpu = id_of(value);
    else if (key == "CPU Affinity" && !domain.vcpus.empty())
      domain.vcpus.back().hard = set_of(value);
    else if (!domain.scheduler.empty() && domain.vcpus.empty())
      domain.parameters[key] = value;
  }

  std::vector<domain_record> domains_;
  std::size_t number_ = 0, pairs_ = 0;
};

}  // namespace

std::vector<domain_record> parse_domains(std::string_view text) { return reader().read(text); }

}  // namespace sukima::host
