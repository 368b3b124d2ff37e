// SPDX-License-Identifier: Apache-2.0
// Explains why a virtual machine does not get its share; see shared/explanation.hpp.
#include "shared/explanation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "source/demand.hpp"

namespace sukima::host {
namespace {

/// Shares with a smaller relative difference count as equal, because counters are not exact.
constexpr double close = 0.05;

struct counters {
  double ran = 0, waited = 0;
};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

counters counters_of(const vcpu& one, const std::string& where) {
  for (const auto& [name, value] : {std::pair{"ran", one.ran}, std::pair{"waited", one.waited}})
    if (!value)
      throw description_error(where + "." + name + ": is missing; an explanation needs the counters");
  return {one.ran.value_or(0), one.waited.value_or(0)};
}

std::string where_of(std::size_t vm, std::size_t vcpu) {
  return "vms[" + std::to_string(vm) + "].vcpus[" + std::to_string(vcpu) + "]";
}

/// Finds the same machine in the earlier description by its id, because its name may have changed.
std::size_t find_earlier(const description& since, const vm& one) {
  auto found = std::ranges::find_if(since.vms, [&](const vm& each) { return one.id && each.id == one.id; });
  if (found == since.vms.end()) found = std::ranges::find(since.vms, one.name, &vm::name);
  if (found == since.vms.end())
    throw description_error("vms: the earlier description has no machine '" + one.name +
                            "'; use two descriptions of the same run");
  return static_cast<std::size_t>(found - since.vms.begin());
}

/// The earlier counters of the same vCPU; zero if it did not exist or was not online.
counters earlier(const description& since, std::size_t vm, std::uint32_t id) {
  const std::vector<vcpu>& all = since.vms[vm].vcpus;
  const auto found = std::ranges::find(all, id, &vcpu::id);
  if (found == all.end() || (!found->online && !found->ran && !found->waited)) return {};
  return counters_of(
      *found, "in the earlier description, " + where_of(vm, static_cast<std::size_t>(found - all.begin())));
}

double interval(const description& host, const description& since) {
  if (!host.taken || !since.taken) throw description_error("taken: is missing; both descriptions need it");
  const double seconds = *host.taken - *since.taken;
  if (!(seconds > 0)) throw description_error("taken: the earlier description is not earlier");
  return seconds;
}

std::string limit_sentence(const vm& one, const vm_estimate& entitled) {
  switch (entitled.limit) {
    case share_limit::vcpus:
      if (std::ranges::none_of(one.vcpus, &vcpu::online)) return "None of its vCPUs is online.";
      return "Each of its online vCPUs is entitled to a whole CPU.";
    case share_limit::vcpu_caps:
      return "The caps of its vCPUs limit it to " + number(entitled.usable) + " CPUs.";
    case share_limit::cap:
      return "Its cap limits it to " + number(one.cap.value_or(0)) + " CPUs.";
    case share_limit::demand:
      return "It is entitled to all that it wants; the description states its demand.";
    case share_limit::others:
      break;
  }
  return "It shares the pCPUs that it may use with others, by weight.";
}

/// Whether it waited long enough that it wanted more. Without an interval only the ratio is known.
bool wanted_more(const counters& sum, const explanation& of) {
  if (!of.seconds) return of.waited_by_ran >= little_waiting;
  return waits_for_cpu({sum.ran, sum.waited}, *of.seconds);
}

void explain_less(const vm& one, const counters& sum, explanation& result) {
  if (!wanted_more(sum, result)) {
    // A machine that hardly ran can have a large ratio although it wanted nothing.
    const std::string much = result.waited_by_ran < little_waiting
                                 ? number(100 * result.waited_by_ran) + " % of the time that it ran."
                                 : number(1000 * sum.waited / result.seconds.value_or(1)) + " ms a second.";
    result.reasons.push_back("It received less than its share because it wanted no more: it waited for " +
                             much);
    return;
  }
  if (one.cap || result.entitled.limit == share_limit::vcpu_caps)
    result.reasons.push_back(
        "Its cap throttles it in each period in which it wants more, and throttled time counts as waiting.");
  result.reasons.push_back(
      "Others received a part of its share: a scheduler that spreads weights over CPUs by load, or balances "
      "its queues late, follows affinities only roughly.");
  result.reasons.push_back(
      "Or the host itself used these pCPUs: subtract that use from their capacity in the description.");
}

}  // namespace

explanation explain(const description& host, std::size_t vm, std::optional<weight_owner> weight_of,
                    const description* since) {
  const estimator exact(host, weight_of);
  const host::vm& one = host.vms[vm];
  explanation result;
  result.entitled = exact.of(vm);
  if (since != nullptr) result.seconds = interval(host, *since);
  const std::size_t before_it = since != nullptr ? find_earlier(*since, one) : 0;
  counters sum;
  for (std::size_t i = 0; i < one.vcpus.size(); ++i) {
    if (!one.vcpus[i].online) continue;
    counters now = counters_of(one.vcpus[i], where_of(vm, i));
    if (since != nullptr) {
      const counters before = earlier(*since, before_it, one.vcpus[i].id);
      now = {now.ran - before.ran, now.waited - before.waited};
      if (now.ran < 0 || now.waited < 0)
        throw description_error(where_of(vm, i) +
                                ": its counters went backwards; use two descriptions of the same run");
    }
    sum.ran += now.ran;
    sum.waited += now.waited;
    if (result.seconds)
      result.got += now.ran / *result.seconds;
    else if (now.ran > 0)
      result.got += now.ran / (now.ran + now.waited);
  }
  result.waited_by_ran = sum.ran > 0      ? sum.waited / sum.ran
                         : sum.waited > 0 ? std::numeric_limits<double>::infinity()
                                          : 0;
  const double entitled = result.entitled.usable;
  if (result.got < entitled * (1 - close)) {
    explain_less(one, sum, result);
  } else if (result.got > entitled * (1 + close)) {
    result.reasons.push_back(
        "It received more than its share because others left some of theirs: set their demand in the "
        "description.");
    if (!result.seconds)
      result.reasons.push_back(
          "Or it ran while others did not: the counters go back to its start. Compare with an earlier "
          "description.");
  } else {
    result.reasons.push_back("It gets what it is entitled to.");
  }
  result.reasons.push_back(limit_sentence(one, result.entitled));
  return result;
}

}  // namespace sukima::host
