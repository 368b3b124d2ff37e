// SPDX-License-Identifier: Apache-2.0
#include "sites.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <sstream>
#include <tuple>
#include <unordered_map>

namespace sukima::memory {

namespace {

struct key {
  const char* file;
  std::uint_least32_t line;
  std::uint_least32_t column;
  bool operator==(const key&) const = default;
};
struct key_hash {
  std::size_t operator()(const key& k) const noexcept {
    return std::hash<const void*>{}(k.file) ^ (std::size_t{k.line} << 20 | k.column);
  }
};

struct registry {
  std::unordered_map<key, int, key_hash> ids;
  std::deque<site> sites;
};

registry& all() {
  static registry r;
  return r;
}

std::string base_name(std::string full) {
  for (const std::string hidden : {"(anonymous namespace)::", "{anonymous}::"})
    for (std::size_t p = full.find(hidden); p != std::string::npos; p = full.find(hidden))
      full.erase(p, hidden.size());
  full = full.substr(0, full.find('('));
  const std::size_t begin = full.find_last_of(" :*&");
  return begin == std::string::npos ? full : full.substr(begin + 1);
}

}  // namespace

int site_of(const std::source_location& where, const char* operation, std::memory_order order) {
  registry& r = all();
  const auto [at, fresh] = r.ids.try_emplace(key{where.file_name(), where.line(), where.column()},
                                             static_cast<int>(r.sites.size()));
  if (fresh)
    r.sites.push_back({where.file_name(), where.line(), where.column(), base_name(where.function_name()),
                       operation, order});
  return at->second;
}

const site& site_at(int id) { return all().sites[static_cast<std::size_t>(id)]; }

std::string name_of(int id) {
  const site& named = site_at(id);
  unsigned before = 0;
  unsigned alike = 0;
  for (const site& s : all().sites) {
    if (s.function != named.function || std::strcmp(s.operation, named.operation) != 0 ||
        std::strcmp(s.file, named.file) != 0)
      continue;
    ++alike;
    if (std::tie(s.line, s.column) < std::tie(named.line, named.column)) ++before;
  }
  std::string name = named.function + " " + named.operation;
  if (alike > 1) name += " " + std::to_string(before + 1);
  return name;
}

const char* name_of(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_consume:
      return "consume";
    case std::memory_order_acquire:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      return "seq_cst";
  }
  return "?";
}

std::vector<std::memory_order> weaker_orders(const char* operation, std::memory_order order) {
  const bool reads_only = std::strcmp(operation, "load") == 0;
  const bool writes_only = std::strcmp(operation, "store") == 0;
  switch (order) {
    case std::memory_order_seq_cst:
      if (reads_only) return {std::memory_order_acquire};
      if (writes_only) return {std::memory_order_release};
      return {std::memory_order_acq_rel};
    case std::memory_order_acq_rel:
      return {std::memory_order_acquire, std::memory_order_release};
    case std::memory_order_acquire:
    case std::memory_order_consume:
    case std::memory_order_release:
      return {std::memory_order_relaxed};
    case std::memory_order_relaxed:
      return {};
  }
  return {};
}

std::string describe(const graph& g) {
  std::ostringstream out;
  for (int id = 0; id < g.size(); ++id) {
    const event& e = g[id];
    if (e.kind == access::first) continue;
    static constexpr const char* kinds[] = {"first", "load", "store", "rmw", "fence"};
    out << "  " << id << ": thread " << e.thread << ' ' << kinds[static_cast<unsigned>(e.kind)] << ' '
        << name_of(e.order);
    if (e.location != none)
      out << " location " << e.location << " value 0x" << std::hex << e.value << std::dec;
    if (e.reads != none) {
      out << " reads ";
      if (g[e.reads].kind == access::first)
        out << "its first value";
      else
        out << e.reads;
    }
    if (e.site != none) {
      const site& s = site_at(e.site);
      const char* const slash = std::strrchr(s.file, '/');
      out << "  (" << s.function << ", " << (slash != nullptr ? slash + 1 : s.file) << ':' << s.line << ')';
    }
    out << '\n';
  }
  return out.str();
}

}  // namespace sukima::memory
