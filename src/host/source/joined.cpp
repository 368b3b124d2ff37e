// SPDX-License-Identifier: Apache-2.0
// Combines several sources into one.
#include <base/shared/assert.hpp>

#include <set>

#include "shared/source.hpp"

namespace sukima::host {
namespace {

class joined_source final : public source {
 public:
  explicit joined_source(std::vector<std::unique_ptr<source>> parts) : parts_(std::move(parts)) {
    SUKIMA_ASSERT(!parts_.empty(), "a host is read from a source");
  }

  snapshot read(deadline end) override {
    snapshot all;
    std::set<std::string> ids;
    std::vector<std::string> failures;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      // Give each source an equal part of the remaining time; time that a source does not use goes to the
      // later ones.
      const auto now = std::chrono::steady_clock::now();
      const auto left = end > now ? end - now : deadline::duration(0);
      try {
        take(parts_[i]->read(now + left / static_cast<long>(parts_.size() - i)), all, ids);
      } catch (const source_error& error) {
        failures.emplace_back(error.what());
      }
    }
    if (failures.size() == parts_.size()) throw source_error(failures.front());
    all.notes.insert(all.notes.end(), failures.begin(), failures.end());
    return all;
  }

  capabilities can() const override {
    capabilities all;
    for (const auto& part : parts_) {
      const capabilities one = part->can();
      all.name += (all.name.empty() ? "" : ", ") + one.name;
      all.waiting = all.waiting || one.waiting;
      all.throttling = all.throttling || one.throttling;
      all.weights = all.weights || one.weights;
      all.caps = all.caps || one.caps;
      all.affinities = all.affinities || one.affinities;
    }
    return all;
  }

 private:
  static void take(snapshot one, snapshot& all, std::set<std::string>& ids) {
    if (all.pcpus.empty()) {
      all.taken = one.taken;
      all.clock = one.clock;
      all.pcpus = std::move(one.pcpus);
      all.busy = std::move(one.busy);
    }
    // A machine that libvirt manages may also be found through its monitor.
    std::set<std::string> here;
    for (observed_vm& each : one.vms) {
      if (each.now.id && ids.contains(*each.now.id)) continue;
      if (each.now.id) here.insert(*each.now.id);
      all.vms.push_back(std::move(each));
    }
    ids.merge(here);
    all.notes.insert(all.notes.end(), one.notes.begin(), one.notes.end());
  }

  std::vector<std::unique_ptr<source>> parts_;
};

}  // namespace

std::unique_ptr<source> join_sources(std::vector<std::unique_ptr<source>> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  return std::make_unique<joined_source>(std::move(parts));
}

}  // namespace sukima::host
