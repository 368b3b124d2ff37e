// SPDX-License-Identifier: Apache-2.0
// A made-up or recorded copy of /proc and /sys in a temporary folder.
#include "recorded_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace sukima_test {

recorded_tree::recorded_tree() {
  std::string pattern = (std::filesystem::temp_directory_path() / "sukima-capacity-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder at " + pattern);
  root_ = pattern;
}

recorded_tree::~recorded_tree() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

recorded_tree& recorded_tree::file(std::string_view path, std::string_view content) {
  std::filesystem::path full = root_ + std::string(path);
  std::filesystem::create_directories(full.parent_path());
  std::ofstream out(full, std::ios::binary);
  out << content;
  if (!out.flush()) throw std::runtime_error("cannot write " + full.string());
  return *this;
}

recorded_tree& recorded_tree::folder(std::string_view path) {
  std::filesystem::create_directories(root_ + std::string(path));
  return *this;
}

recorded_tree& recorded_tree::remove(std::string_view path) {
  std::filesystem::remove_all(root_ + std::string(path));
  return *this;
}

recorded_tree& recorded_tree::machine(std::string_view online, std::string_view allowed) {
  file("/sys/devices/system/cpu/online", std::string(online) + "\n");
  file("/proc/self/status", "Name:\ttest\nPid:\t4711\nCpus_allowed:\tff\nCpus_allowed_list:\t" +
                                std::string(allowed) + "\nThreads:\t1\n");
  return file("/proc/self/stat",
              "4711 (a) b) R 1 4711 4711 34816 4711 4194304 1 2 3 4 5 6 7 8 20 0 1 0 99 1000000 200 "
              "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
}

sukima_capacity_options recorded_tree::options() const {
  sukima_capacity_options result{};
  result.root = root_.c_str();
  result.override_text = "";
  return result;
}

sukima_capacity_facts recorded_tree::facts() const {
  sukima_capacity_options chosen = options();
  sukima_capacity_facts result{};
  EXPECT_EQ(sukima_capacity_read(&chosen, &result), 0);
  return result;
}

tree_file load_tree(const std::filesystem::path& path, recorded_tree& tree) {
  tree_file result;
  std::ifstream in(path);
  std::string line, section, content;
  const auto finish = [&] {
    if (section.starts_with('/')) {
      tree.file(section, content);
    } else if (!section.empty()) {
      result.sections[section] = content;
    }
    content.clear();
  };
  while (std::getline(in, line)) {
    if (line.starts_with("== ")) {
      finish();
      section = line.substr(3);
    } else if (section.empty()) {
      result.title += line.substr(std::min<std::size_t>(2, line.size()));
    } else {
      content += line + "\n";
    }
  }
  finish();
  return result;
}

std::vector<std::string> tree_names(const std::filesystem::path& folder) {
  std::vector<std::string> result;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".tree") result.push_back(entry.path().stem());
  }
  std::ranges::sort(result);
  return result;
}

namespace {

/// Whether the text continues a sentence that begins with the file.
bool begins_with_a_verb(std::string_view text) {
  constexpr std::array<std::string_view, 7> verbs{"cannot", "does", "gives", "has", "holds", "is", "reports"};
  return std::ranges::find(verbs, text.substr(0, text.find(' '))) != verbs.end();
}

}  // namespace

std::string notes_of(const sukima_capacity_report& report) {
  std::string result;
  for (std::size_t i = 0; i < report.note_count; i++) {
    EXPECT_TRUE(begins_with_a_verb(report.notes[i].text)) << report.notes[i].text;
    result += std::string(report.notes[i].file) + ": " + report.notes[i].text + "\n";
  }
  return result;
}

std::string files_of(const sukima_capacity_report& report, sukima_capacity_kind kind) {
  std::string result;
  for (std::size_t i = 0; i < report.limit_count; i++) {
    if (report.limits[i].kind == kind) result += std::string(report.limits[i].file) + "\n";
  }
  return result;
}

const sukima_capacity_limit& binding_of(const sukima_capacity_report& report) {
  const sukima_capacity_limit* found = nullptr;
  for (std::size_t i = 0; i < report.limit_count; i++) {
    if (report.limits[i].is_binding == 0) continue;
    EXPECT_EQ(found, nullptr) << "two limits decide";
    found = &report.limits[i];
  }
  if (found == nullptr) throw std::runtime_error("no limit decides");
  return *found;
}

std::string mount_line(std::string_view root, std::string_view mount_point, std::string_view type,
                       std::string_view options) {
  return "33 31 0:29 " + std::string(root) + " " + std::string(mount_point) + " rw,relatime shared:7 - " +
         std::string(type) + " cgroup " + std::string(options) + "\n";
}

}  // namespace sukima_test
