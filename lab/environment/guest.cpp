// SPDX-License-Identifier: Apache-2.0
// Virtual machines of QEMU; see guest.hpp.
#include "shared/guest.hpp"

#include <fmt/format.h>
#include <base/shared/executable.hpp>
#include <base/shared/read_text.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "environment/unix_socket.hpp"

namespace sukima::lab {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr const char* up_mark = "SUKIMA-UP";
constexpr const char* end_mark = "SUKIMA-ENDED";
/// QEMU opens its sockets before the guest runs.
constexpr auto patience_with_qemu = 10s;

std::vector<std::string> command_line(const guest_plan& plan, const std::filesystem::path& folder) {
  const unsigned most = std::max(plan.vcpus, plan.most_vcpus);
  const auto path = [&](const char* suffix) { return (folder / (plan.name + suffix)).string(); };
  // Switches off all features that could differ between machines. Each virtual CPU is a thread.
  std::vector<std::string> words{
      find_emulator(), "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-name",
      plan.name + ",debug-threads=on", "-machine", "pc", "-accel",
      plan.accelerator == "tcg" ? "tcg,thread=multi" : plan.accelerator, "-m",
      std::to_string(plan.memory_mib), "-smp",
      fmt::format("{},maxcpus={},sockets=1,cores={},threads=1", plan.vcpus, most, most), "-kernel",
      (plan.image / "vmlinuz").string(), "-initrd", (plan.image / "initramfs.gz").string(), "-append",
      // The emulated timer may be late if CPU is short. A kernel that tests it then panics.
      "console=ttyS0 quiet panic=-1 no_timer_check", "-serial", "file:" + path(".console"), "-qmp",
      "unix:" + path(".monitor") + ",server=on,wait=off", "-device", "virtio-serial-pci", "-chardev",
      "socket,id=port,path=" + path(".port") + ",server=on,wait=off", "-device",
      "virtserialport,chardev=port,name=sukima"};
  if (plan.free_monitor) words.insert(words.end(), {"-qmp", "unix:" + path(".qmp") + ",server=on,wait=off"});
  if (plan.service_port) {
    const std::string socket = "socket,id=service,path=" + path(".service") + ",server=on,wait=off";
    words.insert(words.end(),
                 {"-chardev", socket, "-device", "virtserialport,chardev=service,name=org.sukima.guest.0"});
  }
  return words;
}

}  // namespace

std::string find_emulator() {
  const auto file = process::find_program("qemu-system-x86_64", std::getenv("PATH"));
  if (!file) throw std::runtime_error("qemu-system-x86_64 is not installed: apt-get install qemu-system-x86");
  return file->string();
}

std::string text_of(const std::filesystem::path& file) { return read_file_text(file).value_or(""); }

guest::guest(const guest_plan& plan, const std::filesystem::path& folder)
    : name_(plan.name),
      folder_(folder),
      machine_(process::child_request{.arguments = command_line(plan, folder),
                                      .environment = {},
                                      .input = {},
                                      .output_file = (folder / (name_ + ".qemu")).string()}) {
  try {
    monitor_ = std::make_unique<unix_socket>(folder / (name_ + ".monitor"), patience_with_qemu);
    port_ = std::make_unique<unix_socket>(folder / (name_ + ".port"), patience_with_qemu);
    if (!monitor_->read_line(patience_with_qemu)) throw std::runtime_error("its monitor is silent");
    monitor("qmp_capabilities", nlohmann::json::object());
  } catch (const std::runtime_error& problem) {
    throw std::runtime_error(
        fmt::format("QEMU of {} did not start: {}\n{}", name_, problem.what(), last_words()));
  }
}

guest::~guest() = default;

std::string guest::last_words() const {
  constexpr std::size_t enough = 2000;
  const std::string words = text_of(folder_ / (name_ + ".qemu")) + text_of(folder_ / (name_ + ".console"));
  return words.size() <= enough ? words : words.substr(words.size() - enough);
}

void guest::wait_until_up(std::chrono::milliseconds patience) {
  const auto end = clock::now() + patience;
  std::string why =
      fmt::format("did not come up within {} s", std::chrono::duration<double>(patience).count());
  try {
    while (clock::now() < end) {
      const auto line =
          port_->read_line(std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now()));
      if (line && line->find(up_mark) != std::string::npos) return;
    }
  } catch (const std::runtime_error&) {
    why = "ended while it booted";
  }
  throw std::runtime_error(fmt::format("{} {}:\n{}", name_, why, last_words()));
}

std::runtime_error guest::ended_early() const {
  return std::runtime_error(fmt::format("{} ended while a program ran in it:\n{}", name_, last_words()));
}

void guest::run(const std::string& command) {
  try {
    // The shell reads its commands from the port, which the command must not use.
    port_->write(fmt::format("{{ {}\n}} </dev/null; echo {} $?\n", command, end_mark));
  } catch (const std::runtime_error&) {
    throw ended_early();
  }
}

std::optional<guest::answer> guest::read(std::chrono::milliseconds patience) {
  if (exit_code_) return answer{{}, true, *std::exchange(exit_code_, std::nullopt)};
  std::optional<std::string> line;
  try {
    line = port_->read_line(patience);
  } catch (const std::runtime_error&) {
    throw ended_early();
  }
  if (!line) return std::nullopt;
  // The last line of a command's output may have no end.
  const std::size_t mark = line->rfind(end_mark);
  if (mark == std::string::npos) return answer{*line};
  const int exit_code = std::atoi(line->c_str() + mark + std::string_view(end_mark).size());
  if (mark == 0) return answer{{}, true, exit_code};
  exit_code_ = exit_code;
  return answer{line->substr(0, mark)};
}

std::optional<std::string> guest::read_line(std::chrono::milliseconds patience) {
  auto received = read(patience);
  if (!received) throw std::runtime_error(fmt::format("{} is silent:\n{}", name_, last_words()));
  if (received->ended) return std::nullopt;
  return std::move(received->line);
}

std::vector<pid_t> guest::vcpu_threads() {
  std::map<int, pid_t> threads;
  for (const nlohmann::json& one : monitor("query-cpus-fast", nlohmann::json::object()))
    threads[one.at("cpu-index").get<int>()] = one.at("thread-id").get<pid_t>();
  std::vector<pid_t> in_order;
  for (const auto& [index, thread] : threads) in_order.push_back(thread);
  return in_order;
}

std::vector<vcpu_time> guest::vcpu_times() {
  std::vector<vcpu_time> times;
  for (const pid_t thread : vcpu_threads()) {
    std::ifstream stream(fmt::format("/proc/{}/task/{}/schedstat", process(), thread));
    double ran = 0;
    double waited = 0;
    if (!(stream >> ran >> waited))
      throw std::runtime_error(fmt::format("{}: no schedstat of its virtual CPU's thread {}", name_, thread));
    times.push_back({ran * 1e-9, waited * 1e-9});
  }
  return times;
}

nlohmann::json guest::monitor(const std::string& command, const nlohmann::json& arguments) {
  nlohmann::json request{{"execute", command}};
  if (!arguments.empty()) request["arguments"] = arguments;
  monitor_->write(request.dump() + "\n");
  while (true) {
    const auto line = monitor_->read_line(patience_with_qemu);
    if (!line) throw std::runtime_error(fmt::format("{}: no answer to {}", name_, command));
    const nlohmann::json message = nlohmann::json::parse(*line, nullptr, false);
    if (message.contains("return")) return message["return"];
    if (message.contains("error"))
      throw std::runtime_error(
          fmt::format("{}: {}: {}", name_, command, message["error"].value("desc", "no reason given")));
    // Skips events.
  }
}

}  // namespace sukima::lab
