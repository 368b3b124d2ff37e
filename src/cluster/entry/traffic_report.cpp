// SPDX-License-Identifier: Apache-2.0
#include "entry/traffic_report.hpp"

#include <array>
#include <utility>

namespace sukima::cluster {

namespace {

using count = std::pair<const char*, std::uint64_t traffic::*>;
constexpr std::array counts{
    count{"given", &traffic::given},           count{"received", &traffic::received},
    count{"requests", &traffic::requests},     count{"lifelines", &traffic::lifelines},
    count{"aborts", &traffic::aborts},         count{"named", &traffic::named},
    count{"omitted", &traffic::omitted},       count{"cut", &traffic::cut},
    count{"computed", &traffic::computed},     count{"published", &traffic::published},
    count{"helped", &traffic::helped},         count{"taken_over", &traffic::taken_over},
    count{"yielded", &traffic::yielded},       count{"notes", &traffic::notes},
    count{"sent_bytes", &traffic::sent_bytes}, count{"forwarded", &traffic::forwarded},
    count{"withheld", &traffic::withheld},     count{"deleted", &traffic::deleted},
    count{"reports", &traffic::reports},       count{"bundles", &traffic::bundles},
    count{"questions", &traffic::questions},   count{"answers", &traffic::answers},
    count{"refusals", &traffic::refusals}};
static_assert(counts.size() * sizeof(std::uint64_t) == sizeof(traffic), "each member has its name here");

}  // namespace

node_report report_of(const traffic& t) {
  node_report report{.kind = node_report::type::counts};
  for (const auto& [name, member] : counts) report.counts.emplace_back(name, t.*member);
  return report;
}

}  // namespace sukima::cluster
