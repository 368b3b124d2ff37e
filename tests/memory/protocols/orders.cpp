// SPDX-License-Identifier: Apache-2.0
// The memory orders that the protocols need: each is weakened, one at a time.
#include "sites.hpp"
#include "world.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>

namespace sukima::memory {

namespace {

/// The programs, and which accesses each executes.
class examined {
 public:
  explicit examined(const std::vector<program>& programs) : programs_(programs) {
    for (const program& p : programs) {
      const outcome& all = normal_.emplace_back(explore(p));
      if (all.error) throw std::logic_error(p.name + ": " + *all.error);
    }
  }

  /// The accesses of this file, by name.
  std::map<std::string, int> accesses(const std::string& file) const {
    std::map<std::string, int> found;
    for (const outcome& o : normal_)
      for (const int id : o.sites)
        if (std::string(site_at(id).file).ends_with("/" + file)) found.emplace(name_of(id), id);
    return found;
  }

  /// The first program that fails with this order; nothing: all hold.
  std::optional<std::string> failing(weakening weaker) const {
    for (std::size_t i = 0; i < programs_.size(); ++i)
      if (normal_[i].sites.contains(weaker.site) && explore(programs_[i], weaker).error)
        return programs_[i].name;
    return std::nullopt;
  }

 private:
  const std::vector<program>& programs_;
  std::vector<outcome> normal_;
};

std::set<std::string> files_of(const std::vector<known_order>& table) {
  std::set<std::string> files;
  for (const known_order& row : table) files.insert(row.file);
  return files;
}

}  // namespace

std::vector<std::string> check_faults(const std::vector<program>& programs,
                                      const std::vector<known_order>& table) {
  const examined all(programs);
  std::vector<std::string> wrong;
  for (const std::string& file : files_of(table)) {
    std::map<std::string, int> accesses = all.accesses(file);
    for (const known_order& row : table) {
      if (row.file != file) continue;
      const auto found = accesses.find(row.access);
      if (found == accesses.end()) {
        wrong.push_back(file + ": no program executes " + row.access + ", which is in the table");
        continue;
      }
      const int id = found->second;
      accesses.erase(found);
      for (const std::memory_order fault : weaker_orders(site_at(id).operation, row.needed)) {
        const std::optional<std::string> program = all.failing({id, fault});
        if (program)
          std::printf("%s as %s: found by \"%s\"\n", row.access.c_str(), name_of(fault), program->c_str());
        else
          wrong.push_back(file + ": " + row.access + " as " + name_of(fault) + ": no program fails");
      }
    }
    for (const auto& [name, id] : accesses)
      if (site_at(id).order != std::memory_order_relaxed)
        wrong.emplace_back(file)
            .append(": ")
            .append(name)
            .append(" (")
            .append(name_of(site_at(id).order))
            .append(") is not in the table");
  }
  return wrong;
}

std::vector<std::string> check_needed(const std::vector<program>& programs,
                                      const std::vector<known_order>& table) {
  const examined all(programs);
  std::vector<std::string> wrong;
  for (const std::string& file : files_of(table)) {
    const std::map<std::string, int> accesses = all.accesses(file);
    for (const known_order& row : table) {
      const auto found = accesses.find(row.access);
      if (row.file != file || found == accesses.end() || site_at(found->second).order == row.needed) continue;
      if (const std::optional<std::string> program = all.failing({found->second, row.needed}))
        wrong.push_back(file + ": " + row.access + " as " + name_of(row.needed) + ": \"" + *program +
                        "\" fails");
    }
  }
  return wrong;
}

}  // namespace sukima::memory
