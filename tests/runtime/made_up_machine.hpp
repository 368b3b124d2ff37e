// SPDX-License-Identifier: Apache-2.0
// A made-up machine that the table of places reads.
#pragma once

#include <sukima/place.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

namespace support {

/// Cores with one CPU each, two cores per last-level cache, and two domains with half of the CPUs each. The
/// files are in a temporary folder that is removed as soon as they are read, so a process that a signal ends
/// leaves no folder.
class made_up_machine {
 public:
  /// \param cpus a multiple of 4
  explicit made_up_machine(int cpus = 8) : root_(make_root()) {
    const auto list = [](int first, int count) {
      return std::to_string(first) + "-" + std::to_string(first + count - 1);
    };
    write("cpu/online", list(0, cpus));
    write("node/online", "0-1");
    write("node/node0/cpulist", list(0, cpus / 2));
    write("node/node1/cpulist", list(cpus / 2, cpus / 2));
    for (int cpu = 0; cpu < cpus; ++cpu) {
      const std::string folder = "cpu/cpu" + std::to_string(cpu);
      write(folder + "/cache/index0/level", "2");
      write(folder + "/cache/index0/shared_cpu_list", list(cpu / 2 * 2, 2));
      write(folder + "/topology/core_cpus_list", std::to_string(cpu));
    }
    sukima_capacity_options options{};
    options.root = root_.c_str();
    table_.reset(sukima_place_table_open(&options));
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  made_up_machine(const made_up_machine&) = delete;
  made_up_machine& operator=(const made_up_machine&) = delete;
  ~made_up_machine() = default;

  const sukima_place_table& table() const { return *table_; }
  sukima_place of(int cpu, sukima::place_level level) const {
    const sukima_place core = sukima_place_table_of_cpu(table_.get(), static_cast<unsigned>(cpu));
    return sukima_place_table_around(table_.get(), core, static_cast<sukima_place_level>(level));
  }
  /// Returns the core with that CPU.
  sukima::place core(int cpu) const { return sukima::place(of(cpu, sukima::place_level::core)); }

 private:
  struct close_table {
    void operator()(sukima_place_table* table) const { sukima_place_table_close(table); }
  };
  static std::string make_root() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sukima-places-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder at " + pattern);
    return pattern;
  }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = root_ + "/sys/devices/system/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }

  std::string root_;
  std::unique_ptr<sukima_place_table, close_table> table_;
};

}  // namespace support
