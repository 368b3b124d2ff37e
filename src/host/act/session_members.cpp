// SPDX-License-Identifier: Apache-2.0
// The machines of a session: those that it begins with, and later changes.
#include <base/shared/assert.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "act/session_member.hpp"
#include "shared/steering.hpp"

namespace sukima::host {
namespace {

/// The group number of each machine. Machines that share pCPUs, directly or through others, form a group. The
/// number is the position of the group's first pCPU, so it stays the same when other machines come and go.
std::vector<std::uint64_t> groups_of(const description& host) {
  std::vector<std::size_t> parent(host.pcpus.size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t one) {
    while (parent[one] != one) one = parent[one] = parent[parent[one]];
    return one;
  };
  const auto join = [&](std::size_t a, std::size_t b) {
    const std::size_t first = std::min(root(a), root(b));
    parent[root(a)] = parent[root(b)] = first;
  };
  std::vector<std::size_t> somewhere;  // for each machine, a pCPU of its group
  for (const vm& one : host.vms) {
    std::optional<std::size_t> first;
    for (const vcpu& each : one.vcpus)
      for (std::size_t p = 0; p < host.pcpus.size(); ++p) {
        if (!each.hard.empty() && !std::ranges::binary_search(each.hard, host.pcpus[p].id)) continue;
        if (!first) first = p;
        join(*first, p);
      }
    somewhere.push_back(first.value_or(0));
  }
  std::vector<std::uint64_t> groups;
  for (const std::size_t one : somewhere) groups.push_back(root(one));
  return groups;
}

optimiser_settings settings_of(const vm& described, const session_vm& given, const session_options& options) {
  optimiser_settings settings;
  // Counts that are never set must not be tried: a search would get no windows for them, and would end
  // without a result.
  settings.least = given.how.least;
  settings.most = given.how.most;
  settings.by = options.by;
  settings.dry_run = options.dry_run;
  settings.window_seconds = options.cycle_seconds;
  settings.quantity = given.how.threads ? "threads" : "vcpus";
  // If each vCPU has its own weight, more vCPUs would take CPU from the neighbours.
  settings.above_estimate = given.how.threads || described.weight_of != weight_owner::vcpu;
  return settings;
}

/// Whether a member can continue as this machine: it must be the same run of the same machine, reached in the
/// same way.
bool is_same(const session_member& one, const vm& now, const steering& how) {
  return !one.ended() && one.is_measured() && one.how().process == how.process &&
         one.how().port == how.port && one.how().file == how.file &&
         one.described().vcpus.size() == now.vcpus.size();
}

/// The counters of a member that leaves. They go on if its machine joins again in the same run, for instance
/// with another number of virtual CPUs.
struct left_counters {
  std::optional<pid_t> process;
  counted_time counted;
};

}  // namespace

session::session(description host, std::vector<session_vm> vms, const session_options& options,
                 journal* written)
    : options_(options), estimator_(std::make_unique<estimator>(host)), optimiser_(options.seed) {
  if (written != nullptr) actor_ = std::make_unique<actor>(*written);
  const auto groups = groups_of(host);
  for (std::size_t j = 0; j < vms.size(); ++j) join(host.vms[j], std::move(vms[j]), groups[j], 0);
}

void session::join(const vm& described, session_vm given, std::uint64_t group, double now) {
  const auto settings = settings_of(described, given, options_);
  members_.push_back(std::make_unique<session_member>(described, std::move(given), options_.cycle_seconds));
  session_member& one = *members_.back();
  one.number = optimiser_.add(described.name, settings, group);
  if (one.chosen()) optimiser_.event(one.number, now, vm_event::opted_in);
}

void session::leave(session_member& one, double now) {
  optimiser_.event(one.number, now, vm_event::ended);
  if (one.link() != nullptr) one.link()->set_message(std::nullopt, now);
  end_acts(one);
  if (one.plugged) actor_->record_gone(*std::exchange(one.plugged, std::nullopt));
}

void session::replace(const description& host, const std::vector<steering>& how,
                      const std::function<session_vm(std::size_t)>& open, double now) {
  auto fresh = std::make_unique<estimator>(host);
  const auto groups = groups_of(host);
  auto before = std::exchange(members_, {});
  const auto id_of = [](const vm& one) { return one.id.value_or(one.name); };
  std::vector<std::size_t> joining;
  std::vector<std::unique_ptr<session_member>> all(host.vms.size());
  for (std::size_t j = 0; j < host.vms.size(); ++j) {
    const auto found = std::ranges::find_if(before, [&](const auto& one) {
      return one != nullptr && id_of(one->described()) == id_of(host.vms[j]) &&
             is_same(*one, host.vms[j], how[j]);
    });
    if (found == before.end()) {
      joining.push_back(j);
      continue;
    }
    all[j] = std::move(*found);
    if (all[j]->name() != host.vms[j].name) optimiser_.rename(all[j]->number, now, host.vms[j].name);
    all[j]->describe(host.vms[j]);
    optimiser_.regroup(all[j]->number, now, groups[j]);
  }
  // End the old runs first: a guest's port accepts one connection, and a new run may get the optimiser's
  // number of the old one.
  std::map<std::string, left_counters> left;
  for (auto& one : before)
    if (one != nullptr) {
      leave(*one, now);
      if (one->chosen()) from_gone_ += one->link()->seen();
      optimiser_.remove(one->number);
      if (!one->ended() && one->is_measured())
        left.insert_or_assign(id_of(one->described()), left_counters{one->how().process, one->counted});
      one.reset();
    }
  for (const std::size_t j : joining) {
    join(host.vms[j], open(j), groups[j], now);
    all[j] = std::move(members_.back());
    members_.pop_back();
    const auto earlier = left.find(id_of(host.vms[j]));
    if (earlier != left.end() && earlier->second.process == how[j].process)
      all[j]->counted = std::move(earlier->second.counted);
  }
  members_ = std::move(all);
  SUKIMA_ASSERT(std::ranges::none_of(members_, [](const auto& one) { return one == nullptr; }),
                "each machine of the description has a member, at its position");
  estimator_ = std::move(fresh);
}

}  // namespace sukima::host
