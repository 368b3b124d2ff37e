// SPDX-License-Identifier: Apache-2.0
// Made-up hosts for tests; see random_hosts.hpp.
#include "random_hosts.hpp"

#include <algorithm>
#include <set>

namespace sukima::host::examples {
namespace {

using ids = std::vector<std::uint32_t>;

bool toss(generator& random) { return random() % 2 == 0; }
double hundredths(generator& random, std::size_t most) {
  return static_cast<double>(draw(random, 1, most)) / 100;
}

ids random_ids(affinity kind, std::size_t n, generator& random) {
  std::set<std::uint32_t> chosen;
  const auto add = [&](std::size_t p) { chosen.insert(static_cast<std::uint32_t>(p % n)); };
  const auto anywhere = [&] { return draw(random, 0, n - 1); };
  switch (kind) {
    case affinity::few_anywhere:
    case affinity::some_anywhere:
      for (std::size_t k = draw(random, 1, kind == affinity::few_anywhere ? 4 : 32); k > 0; --k)
        add(anywhere());
      break;
    case affinity::range: {
      const std::size_t size = std::size_t{1} << draw(random, 0, 6), first = anywhere();
      for (std::size_t k = 0; k < size; ++k) add(first + k);
      break;
    }
    case affinity::half_of_all:
      for (std::size_t p = 0; p < n; ++p)
        if (toss(random)) add(p);
      break;
    case affinity::node: {
      const std::size_t node = draw(random, 0, 7);
      for (std::size_t p = node * n / 8; p < (node + 1) * n / 8; ++p) add(p);
      break;
    }
    case affinity::skewed:
      add(std::min(anywhere(), anywhere()));
      if (draw(random, 0, 3) == 0) add(anywhere());
      break;
  }
  if (chosen.empty()) add(anywhere());
  return {chosen.begin(), chosen.end()};
}

double random_weight(const shape& like, generator& random) {
  constexpr double extremes[] = {0, 1, 65535};
  if (like.extremes && toss(random)) return extremes[draw(random, 0, 2)];
  return like.weights ? static_cast<double>(std::size_t{64} << draw(random, 0, 4)) : 256;
}

}  // namespace

const char* name_of(affinity kind) {
  switch (kind) {
    case affinity::few_anywhere:
      return "1-4 anywhere";
    case affinity::some_anywhere:
      return "1-32 anywhere";
    case affinity::range:
      return "a range of 1-64";
    case affinity::half_of_all:
      return "half of all";
    case affinity::node:
      return "a node of 8";
    case affinity::skewed:
      break;
  }
  return "skewed, 1-2";
}

std::size_t draw(generator& random, std::size_t least, std::size_t most) {
  return least + static_cast<std::size_t>(random() % (most - least + 1));
}

shape random_shape(std::size_t most_pcpus, std::size_t most_vcpus, generator& random) {
  shape one;
  one.pcpus = draw(random, 1, most_pcpus);
  one.vcpus = draw(random, 1, most_vcpus);
  one.where = static_cast<affinity>(draw(random, 0, affinity_kinds - 1));
  for (bool* flag : {&one.weights, &one.extremes, &one.bounds, &one.vm_caps, &one.capacities, &one.offline})
    *flag = toss(random);
  const std::size_t owner = draw(random, 0, 2);
  one.owner = owner == 2 ? std::nullopt : std::optional(owner == 0 ? weight_owner::vcpu : weight_owner::vm);
  return one;
}

description random_host(const shape& like, generator& random) {
  description host = host_of(like.pcpus);
  for (pcpu& one : host.pcpus)
    if (like.capacities && toss(random)) one.capacity = static_cast<double>(draw(random, 0, 100)) / 100;
  for (std::size_t left = like.vcpus; left > 0;) {
    const std::size_t size = like.where == affinity::skewed && toss(random)
                                 ? 1
                                 : std::min(left, std::size_t{1} << draw(random, 0, 4));
    vm& one = add_vm(host, "vm" + std::to_string(host.vms.size()), {}, random_weight(like, random));
    one.weight_of = like.owner ? *like.owner : toss(random) ? weight_owner::vm : weight_owner::vcpu;
    if (like.vm_caps && toss(random)) one.cap = hundredths(random, 100 * size);
    const bool same = toss(random);
    for (std::size_t k = 0; k < size; ++k) {
      vcpu& each = one.vcpus.emplace_back();
      each.id = static_cast<std::uint32_t>(k);
      each.hard = same && k > 0 ? one.vcpus[0].hard : random_ids(like.where, like.pcpus, random);
      if (toss(random)) each.soft = random_ids(like.where, like.pcpus, random);
      if (like.bounds && toss(random)) each.cap = hundredths(random, 100);
      if (like.bounds && toss(random)) each.demand = hundredths(random, 100);
      each.online = !like.offline || draw(random, 0, 3) > 0;
    }
    left -= size;
  }
  return host;
}

void change_vm(vm& one, const shape& like, generator& random) {
  vcpu& each = one.vcpus[draw(random, 0, one.vcpus.size() - 1)];
  switch (draw(random, 0, 4)) {
    case 0:
      one.weight = random_weight({.weights = true, .extremes = like.extremes}, random);
      break;
    case 1:
      each.online = !each.online;
      break;
    case 2:
      each.hard = random_ids(like.where, like.pcpus, random);
      break;
    case 3:
      each.demand = toss(random) ? std::nullopt : std::optional(hundredths(random, 100));
      break;
    default:
      if (like.vm_caps)
        one.cap = toss(random) ? std::nullopt : std::optional(hundredths(random, 100 * one.vcpus.size()));
      else
        each.cap = toss(random) ? std::nullopt : std::optional(hundredths(random, 100));
  }
}

description host_of(std::size_t pcpus) {
  description host;
  for (std::uint32_t p = 0; p < pcpus; ++p) host.pcpus.push_back({p, {}, {}, 1, {}});
  return host;
}

vm& add_vm(description& host, const std::string& name, const std::vector<std::string>& hard, double weight,
           weight_owner owner) {
  vm& one = host.vms.emplace_back();
  one.name = name;
  one.weight = weight;
  one.weight_of = owner;
  for (const std::string& list : hard) {
    vcpu& each = one.vcpus.emplace_back();
    each.id = static_cast<std::uint32_t>(one.vcpus.size() - 1);
    if (!list.empty()) each.hard = parse_cpu_list(list);
  }
  return one;
}

description figure_14() {
  description host = host_of(4);
  add_vm(host, "a", {"0-1", "0-1"});
  add_vm(host, "b", {"1-3", "1-3", "1-3"});
  return host;
}

description counterexample() {
  description host = host_of(4);
  const char* const lists[] = {"1", "0,2", "0,2-3", "0-2", "0,3", "1"};
  for (std::size_t i = 0; i < 6; ++i) add_vm(host, std::to_string(i), {lists[i]});
  return host;
}

}  // namespace sukima::host::examples
