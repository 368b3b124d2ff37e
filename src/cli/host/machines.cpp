// SPDX-License-Identifier: Apache-2.0
// The machines of the running host; see machines.hpp.
#include "host/machines.hpp"

#include <capacity/shared/output_file.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>

#include <base/shared/assert.hpp>
#include "host/metrics.hpp"
#include "host/recording_lock.hpp"
#include "host/report.hpp"
#include "host/stop.hpp"
#include "shared/console.hpp"

namespace sukima::cli::host {
namespace {

using nlohmann::json;

/// The host's own use is measured over this number of readings, and a recording should contain it.
constexpr unsigned readings_of_recording = 11;

/// A machine, printed as a row or as a JSON object.
struct row {
  const model::vm& vm;
  const model::measured_vm& measured;
  model::vm_estimate share;
};

std::vector<row> rows_of(const live_host& host, const machine_options& options) {
  const model::description& now = host.seen().host();
  std::vector<model::vm_estimate> shares;
  try {
    shares = model::estimate_shares(now, {model::estimate_method::exact, options.weight_of});
  } catch (const model::description_error& error) {
    throw process::usage_error(fmt::format("no estimate can be made: {}", error.what()));
  }
  SUKIMA_ASSERT(shares.size() == now.vms.size() && host.seen().measured().size() == now.vms.size(),
                "each machine has a share and measurements, in the same order");
  std::vector<row> rows;
  for (std::size_t j = 0; j < now.vms.size(); ++j)
    rows.push_back({now.vms[j], host.seen().measured()[j], shares[j]});
  return rows;
}

std::string state_of(const model::measured_vm& one) {
  const std::string state = one.state == model::vm_state::paused ? "paused" : "running";
  return one.stale ? state + ", stale" : state;
}

std::string used_text(const model::measured_vm& one) {
  return one.used ? fmt::format("{:.2f}", *one.used) : "-";
}

std::string waiting_text(const model::measured_vm& one) {
  if (!one.waited_by_ran) return "-";
  return *one.waited_by_ran > 10 ? "> 1000 %" : fmt::format("{:.0f} %", 100 * *one.waited_by_ran);
}

std::string online_text(const model::vm& one) {
  return fmt::format("{} of {}", std::ranges::count(one.vcpus, true, &model::vcpu::online), one.vcpus.size());
}

std::string table_of(const std::vector<row>& rows) {
  std::size_t name = 2, state = 5;
  for (const row& one : rows) {
    name = std::max(name, one.vm.name.size());
    state = std::max(state, state_of(one.measured).size());
  }
  std::string text =
      fmt::format("{:<{}}  {:<14}  {:<{}}  vCPUs online  used CPUs    waits  usable CPUs  limited by\n", "VM",
                  name, "source", "state", state);
  for (const row& one : rows)
    text += fmt::format("{:<{}}  {:<14}  {:<{}}  {:>12}  {:>9}  {:>7}  {:>11.2f}  {}\n", one.vm.name, name,
                        one.measured.source, state_of(one.measured), state, online_text(one.vm),
                        used_text(one.measured), waiting_text(one.measured), one.share.usable,
                        text_of(one.share.limit));
  return text;
}

json object_of(const row& one) {
  json result = {{"name", one.vm.name},
                 {"id", nullptr},
                 {"source", one.measured.source},
                 {"state", one.measured.state == model::vm_state::paused ? "paused" : "running"},
                 {"stale", one.measured.stale},
                 {"vcpus", one.vm.vcpus.size()},
                 {"online", std::ranges::count(one.vm.vcpus, true, &model::vcpu::online)},
                 {"used", nullptr},
                 {"waited_by_ran", nullptr},
                 {"weight", one.vm.weight},
                 {"weight_of", one.vm.weight_of == model::weight_owner::vm ? "vm" : "vcpu"},
                 {"cap", nullptr},
                 {"usable", one.share.usable},
                 {"limit", name_of(one.share.limit)}};
  if (one.vm.id) result["id"] = *one.vm.id;
  if (one.measured.used) result["used"] = *one.measured.used;
  if (one.measured.waited_by_ran) result["waited_by_ran"] = *one.measured.waited_by_ran;
  if (one.vm.cap) result["cap"] = *one.vm.cap;
  return result;
}

json object_of(live_host& host, const std::vector<row>& rows) {
  json result = {{"taken", host.seen().host().taken.value_or(0)},
                 {"sources", host.sources()},
                 {"pcpus", json::array()},
                 {"vms", json::array()},
                 {"changes", json::array()},
                 {"notes", host.take_notes()}};
  for (const model::pcpu& one : host.seen().host().pcpus)
    result["pcpus"].push_back({{"id", one.id}, {"capacity", one.capacity}});
  for (const row& one : rows) result["vms"].push_back(object_of(one));
  for (const model::change& one : host.seen().changes()) result["changes"].push_back(model::text_of(one));
  return result;
}

void add_to(model::host_metrics& all, const row& one) {
  model::vm_metrics& into = all.vms.emplace_back();
  into.name = one.vm.name;
  into.usable = one.share.usable;
  into.used = one.measured.used;
  if (one.measured.ran.has_counted()) into.ran = one.measured.ran.sum();
  if (one.measured.waited.has_counted()) into.waited = one.measured.waited.sum();
  for (const model::vcpu& each : one.vm.vcpus) {
    ++(each.online ? into.online : into.offline);
    if (each.online && each.demand) into.demand = into.demand.value_or(0) + *each.demand;
  }
}

/// Publishes the metrics of a reading.
void publish(model::metrics_output& output, const std::vector<row>& rows) {
  model::host_metrics all;
  for (const row& one : rows) add_to(all, one);
  if (const auto failed = output.publish(model::metrics_text(all))) complain(*failed);
}

/// The output of `watch` for people.
class screen {
 public:
  explicit screen(bool times) : times_(times) {}

  void show(live_host& host, const std::vector<row>& rows) {
    const std::string time = times_ ? time_text(std::time(nullptr)) + "  " : "";
    std::string text = lines_ > 0 ? fmt::format("\r\033[{}A\033[J", lines_) : std::string();
    for (const std::string& note : host.take_notes()) text += fmt::format("{}{}\n", time, note);
    for (const model::change& one : host.seen().changes())
      text += fmt::format("{}{}\n", time, model::text_of(one));
    if (terminal_) {
      const std::size_t width = terminal_width(STDOUT_FILENO);
      const std::string head = fmt::format("{}{} pCPUs, {:.2f} left by the host\n", time,
                                           host.seen().host().pcpus.size(), left_by(host.seen().host()));
      const std::string table = cut_lines(head + (rows.empty() ? "" : table_of(rows)), width - 1);
      const std::string reason = rows.empty() ? host.reason_for_none() : "";
      lines_ =
          static_cast<std::size_t>(std::ranges::count(table, '\n')) + (reason.size() + width - 1) / width;
      text += table + (rows.empty() ? reason + "\n" : "");
    } else {
      for (const row& one : rows)
        text += fmt::format("{}{}: {}, {} vCPUs, uses {} CPUs, waits {}, {:.2f} usable\n", time, one.vm.name,
                            state_of(one.measured), online_text(one.vm), used_text(one.measured),
                            waiting_text(one.measured), one.share.usable);
      if (rows.empty()) text += fmt::format("{}{}\n", time, host.reason_for_none());
    }
    fmt::print("{}", text);
  }

 private:
  static double left_by(const model::description& host) {
    double sum = 0;
    for (const model::pcpu& one : host.pcpus) sum += one.capacity;
    return sum;
  }

  bool times_, terminal_ = moves_cursor(STDOUT_FILENO);
  std::size_t lines_ = 0;
};

void print_notes(live_host& host) {
  for (const std::string& note : host.take_notes()) complain(note);
}

[[noreturn]] void refuse_file(const std::string& path, int error) {
  throw process::usage_error(fmt::format("the description cannot be written to '{}': {}; give another file",
                                         path, std::strerror(error)));
}

/// Writes the whole description, or leaves the file unchanged.
void write_description(const std::string& path, const std::string& text) {
  cap_output_file file;
  if (const int error = cap_output_open(&file, path.c_str()); error != 0) refuse_file(path, error);
  std::fwrite(text.data(), 1, text.size(), file.stream);  // the close reports a failure of this write
  if (const int error = cap_output_close(&file, true); error != 0) refuse_file(path, error);
}

}  // namespace

int list(live_host& host, const machine_options& options) {
  host.measure();
  const std::vector<row> rows = rows_of(host, options);
  if (options.format.json) {
    fmt::print("{}\n", object_of(host, rows).dump(2, ' ', false, json::error_handler_t::replace));
  } else {
    print_notes(host);
    fmt::print("{}", rows.empty() ? host.reason_for_none() + "\n" : table_of(rows));
  }
  return process::exit_success;
}

int watch(live_host& host, const machine_options& options) {
  const auto metrics = options.metrics.empty() ? nullptr : open_metrics_at(options.metrics);
  // The command must remove its metrics file when it ends, so it must not be killed by a signal.
  const std::atomic<bool>* const stopped = metrics ? &catch_stop_signals() : nullptr;
  if (metrics) complain(fmt::format("metrics are at {}", metrics->place()));
  screen output(options.format.times);
  host.next(stopped);
  for (unsigned done = 0; !options.count || done < *options.count; ++done) {
    host.next(stopped);
    // Relaxed: no other data is published with it. Partner: stop in stop.cpp.
    if (stopped != nullptr && stopped->load(std::memory_order_relaxed)) break;
    const std::vector<row> rows = rows_of(host, options);
    if (metrics) publish(*metrics, rows);
    if (options.format.json) {
      json object = object_of(host, rows);
      if (options.format.times) object["time"] = time_text(std::time(nullptr));
      fmt::print("{}\n", object.dump(-1, ' ', false, json::error_handler_t::replace));
    } else {
      output.show(host, rows);
    }
    std::fflush(stdout);
    if (std::ferror(stdout) != 0) break;  // run_command_line reports it
  }
  return process::exit_success;
}

int record(live_host& host, const std::string& path, const machine_options& options) {
  // The command must remove its lock when it ends, so it must not be killed by a signal.
  const std::atomic<bool>* const stopped = path == "-" ? nullptr : &catch_stop_signals();
  host.next(stopped);
  // Checks this before the readings, which take a while.
  std::optional<recording_lock> lock;
  if (path != "-") {
    if (const int error = cap_output_check(path.c_str()); error != 0) refuse_file(path, error);
    lock.emplace(path);
  }
  for (unsigned done = 1; done < options.count.value_or(readings_of_recording); ++done) host.next(stopped);
  // Relaxed: no other data is published with it. Partner: stop in stop.cpp.
  if (stopped != nullptr && stopped->load(std::memory_order_relaxed)) {
    complain(fmt::format("the recording was interrupted; '{}' was not written", path));
    return process::exit_failure;
  }
  print_notes(host);
  const model::description& now = host.seen().host();
  const std::string text = model::description_text(now);
  if (path == "-") {
    fmt::print("{}", text);
    return process::exit_success;
  }
  write_description(path, text);
  if (now.vms.empty())
    fmt::print("{}\n", host.reason_for_none());
  else
    fmt::print("{}: {} on {}\n", path,
               now.vms.size() == 1 ? "1 virtual machine" : fmt::format("{} virtual machines", now.vms.size()),
               now.pcpus.size() == 1 ? "1 pCPU" : fmt::format("{} pCPUs", now.pcpus.size()));
  return process::exit_success;
}

}  // namespace sukima::cli::host
