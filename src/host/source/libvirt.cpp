// SPDX-License-Identifier: Apache-2.0
// Reads libvirt's domains as a source; see libvirt.hpp.
#include "source/libvirt.hpp"

#include <base/shared/clock.hpp>
#include <base/shared/read_text.hpp>

#include <algorithm>
#include <iostream>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "shared/calls.hpp"
#include "shared/files.hpp"
#include "source/files.hpp"
#include "source/group_tree.hpp"

namespace sukima::host {
namespace {

/// Queries libvirt in a thread, so that the caller can stop waiting for the answer.
class libvirt_reader {
 public:
  explicit libvirt_reader(std::unique_ptr<libvirt_calls> calls) { call_->calls = std::move(calls); }

  /// \returns nothing if there is no answer at the deadline; the call continues, and a later `ask` returns
  ///   its answer
  /// \throws source_error  as the call
  std::optional<libvirt_answer> ask(deadline end) {
    if (!std::exchange(asked_, true)) thread_->begin([call = call_] { call->run(); });
    if (!thread_->wait(end)) return std::nullopt;
    asked_ = false;
    if (!call_->failure.empty()) throw source_error(call_->failure);
    return std::move(call_->answer);
  }

 private:
  /// The data of a call. While it runs, only its thread may use them.
  struct one_call {
    void run() {
      answer.reset();
      failure.clear();
      try {
        answer = calls->read();
      } catch (const std::exception& error) {
        failure = error.what();
      }
    }

    std::unique_ptr<libvirt_calls> calls;
    std::optional<libvirt_answer> answer;
    std::string failure;
  };

  std::shared_ptr<one_call> call_ = std::make_shared<one_call>();
  std::unique_ptr<caller> thread_ = make_calling_thread();
  bool asked_ = false;  ///< a call has begun, and its answer, which may have arrived, was not taken
};

double default_shares(const std::string& root) {
  const group_tree groups(root);
  return groups.there() && groups.v2() ? 100 : 1024;
}

bool counted(const observed_vm& one) {
  return std::ranges::any_of(one.now.vcpus, [](const vcpu& v) { return v.ran.has_value(); });
}

/// The machines of the last reading, by id and by name.
class known_machines {
 public:
  /// \param seen  outlives this object, unchanged
  explicit known_machines(const std::vector<observed_vm>& seen) {
    for (const observed_vm& one : seen) {
      by_name_.emplace(one.now.name, &one);
      if (one.now.id) by_id_.emplace(*one.now.id, &one);
    }
  }

  /// \returns null if there was no such machine
  const observed_vm* find(const domain_record& record) const {
    const auto& all = record.uuid.empty() ? by_name_ : by_id_;
    const auto found = all.find(record.uuid.empty() ? record.name : record.uuid);
    return found == all.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<std::string_view, const observed_vm*> by_name_, by_id_;
};

class libvirt_source final : public source {
 public:
  libvirt_source(std::unique_ptr<libvirt_calls> calls, std::string root)
      : reader_(std::move(calls)), root_(std::move(root)), default_shares_(default_shares(root_)) {}

  snapshot read(deadline end) override {
    std::optional<libvirt_answer> answer;
    std::string trouble = "libvirt did not answer in time";
    try {
      answer = reader_.ask(end);
    } catch (const source_error& error) {
      // The daemon may be restarting. The machines continue without it.
      if (!answered_) throw;
      trouble = error.what();
    }
    if (!answer && !answered_) throw source_error(trouble + "; check that its daemon runs");
    snapshot result = machine_of(answer ? answer->pcpus : pcpus_);
    if (!answer) {
      for (observed_vm& one : seen_) one.stale = true;
      result.vms = seen_;
      result.notes.push_back(trouble + "; its machines are shown as they were");
      return result;
    }
    answered_ = true;
    pcpus_ = answer->pcpus;
    result.notes = std::move(answer->notes);
    const known_machines known(seen_);
    for (const domain_record& record : answer->domains) take(record, answer->read_at, known, result);
    seen_ = result.vms;
    return result;
  }

  capabilities can() const override { return {"libvirt", true, false, true, true, true}; }

 private:
  snapshot machine_of(const std::vector<std::uint32_t>& elsewhere) const {
    if (elsewhere.empty()) return read_machine(root_);
    snapshot result;
    result.clock = steady_seconds();
    result.taken = wall_seconds();
    for (const std::uint32_t id : elsewhere) {
      result.pcpus.emplace_back();
      result.pcpus.back().id = id;
    }
    return result;
  }

  void take(const domain_record& record, double read_at, const known_machines& known,
            snapshot& result) const {
    auto one = observe_domain(record, default_shares_);
    if (one) one->read_at = read_at;
    // libvirt omits data for which it would have to wait, because another client is working on the domain.
    const observed_vm* const before = known.find(record);
    if (before != nullptr && counted(*before) && !(one && counted(*one)) && !ended(record)) {
      one = *before;
      one->now.name = record.name;
      one->stale = true;
    }
    if (one) result.vms.push_back(std::move(*one));
  }

  static bool ended(const domain_record& record) {
    const auto state = record.statistics.find("state.state");
    return state != record.statistics.end() && (state->second == "5" || state->second == "6");
  }

  libvirt_reader reader_;
  std::string root_;
  double default_shares_;
  bool answered_ = false;
  std::vector<std::uint32_t> pcpus_;
  std::vector<observed_vm> seen_;
};

class domain_file_source final : public source {
 public:
  domain_file_source(std::string path, std::string root)
      : path_(std::move(path)), root_(std::move(root)), default_shares_(default_shares(root_)) {
    if (path_ == "-") text_ = read_all(std::cin, longest_input);
    read(deadline::max());
  }

  snapshot read(deadline /*end*/) override {
    const auto text = path_ == "-" ? text_ : read_file_text(path_, longest_input);
    if (!text)
      throw source_error("the statistics '" + path_ + "' cannot be read: " + read_error() +
                         "; give another file");
    if (text->size() > longest_input)
      throw source_error(
          "the statistics '" + path_ + "' are longer than " + longest_input_text +
          "; give another file, such as what virsh domstats --state --cpu-total --vcpu prints");
    snapshot result = read_machine(root_);
    std::size_t vcpus = 0;
    // If the file was not written again, its counters are from the same moment. They must not count as an
    // interval in which no vCPU ran.
    if (read_at_ == 0 || text != text_) read_at_ = result.clock;
    text_ = text;
    const std::vector<domain_record> domains = parse_domains(*text);
    if (domains.empty())
      throw source_error("the statistics '" + path_ +
                         "' contain no domain; save the output of virsh domstats");
    for (const domain_record& record : domains)
      if (auto one = observe_domain(record, default_shares_)) {
        one->read_at = read_at_;
        vcpus += one->now.vcpus.size();
        if (vcpus > most_vcpus)
          throw source_error("the statistics '" + path_ + "' name more than " + std::to_string(most_vcpus) +
                             " virtual CPUs; give a file with fewer domains");
        result.vms.push_back(std::move(*one));
      } else {
        result.notes.push_back("the domain " + record.name + " is not active, or has no virtual CPU");
      }
    // The counters are from another time than the busy times of this machine, so do not use the latter.
    result.busy.clear();
    return result;
  }

  capabilities can() const override { return {"domstats", true, false, true, true, true}; }

 private:
  std::string path_, root_;
  double default_shares_;
  std::optional<std::string> text_;
  double read_at_ = 0;
};

}  // namespace

std::unique_ptr<source> make_libvirt_source(std::unique_ptr<libvirt_calls> calls, const std::string& root) {
  return std::make_unique<libvirt_source>(std::move(calls), root);
}

std::unique_ptr<source> open_libvirt(const std::string& uri, const std::string& root) {
  return make_libvirt_source(load_libvirt(uri), root);
}

std::unique_ptr<source> open_domain_file(const std::string& path, const std::string& root) {
  return std::make_unique<domain_file_source>(path, root);
}

}  // namespace sukima::host
