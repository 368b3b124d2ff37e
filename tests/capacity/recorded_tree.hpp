// SPDX-License-Identifier: Apache-2.0
// A made-up or recorded copy of /proc and /sys in a temporary folder, removed at the end of the test.
#pragma once

#include <sukima/capacity.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sukima_test {

class recorded_tree {
 public:
  recorded_tree();
  ~recorded_tree();
  recorded_tree(const recorded_tree&) = delete;
  recorded_tree& operator=(const recorded_tree&) = delete;

  /// Writes a file (and the folders that it needs) under the root; `path` starts with '/'.
  recorded_tree& file(std::string_view path, std::string_view content);
  recorded_tree& folder(std::string_view path);
  recorded_tree& remove(std::string_view path);

  /// Writes /proc/self/status, /proc/self/stat and the list of CPUs that are switched on.
  recorded_tree& machine(std::string_view online, std::string_view allowed);

  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] sukima_capacity_options options() const;
  [[nodiscard]] sukima_capacity_facts facts() const;

 private:
  std::string root_;
};

/// The parts of a file NAME.tree, except the files of its tree:
///     # title
///     == section
///     text
///     == /proc/self/cgroup
///     0::/
struct tree_file {
  std::string title;
  std::map<std::string, std::string> sections;  ///< sections whose name is not a path
};

/// Reads a file NAME.tree and writes the files of its tree.
tree_file load_tree(const std::filesystem::path& path, recorded_tree& tree);

/// Returns the sorted names of these files in a folder, without ".tree".
std::vector<std::string> tree_names(const std::filesystem::path& folder);

struct report_deleter {
  void operator()(sukima_capacity_report* report) const { sukima_capacity_report_free(report); }
};
using report_pointer = std::unique_ptr<sukima_capacity_report, report_deleter>;

struct handle_deleter {
  void operator()(sukima_capacity* handle) const { sukima_capacity_close(handle); }
};
using handle_pointer = std::unique_ptr<sukima_capacity, handle_deleter>;

struct place_table_deleter {
  void operator()(sukima_place_table* table) const { sukima_place_table_close(table); }
};
using place_table_pointer = std::unique_ptr<sukima_place_table, place_table_deleter>;

/// Returns all notes as lines "file: text".
std::string notes_of(const sukima_capacity_report& report);

/// Returns the limits of a kind, in their order.
std::string files_of(const sukima_capacity_report& report, sukima_capacity_kind kind);

/// Returns the one limit that decides. Fails the test if there is none or more than one.
const sukima_capacity_limit& binding_of(const sukima_capacity_report& report);

/// Returns a line of mountinfo.
std::string mount_line(std::string_view root, std::string_view mount_point, std::string_view type,
                       std::string_view options);

}  // namespace sukima_test
