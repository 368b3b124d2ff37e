// SPDX-License-Identifier: Apache-2.0
// The accesses in the source text that were executed.
#pragma once

#include "graph.hpp"

#include <source_location>
#include <string>
#include <vector>

namespace sukima::memory {

struct site {
  const char* file;
  std::uint_least32_t line;
  std::uint_least32_t column;
  std::string function;  ///< the name without scopes, parameters and template arguments
  const char* operation;  ///< "load", "exchange", …
  std::memory_order order;  ///< as in the source text
};

/// Returns the number of this access, which never changes.
int site_of(const std::source_location& where, const char* operation, std::memory_order order);
const site& site_at(int id);
/// Returns for example "request_poll exchange". If a function has several, their numbers follow the order of
/// the text: "steal_oldest load 2".
std::string name_of(int id);
const char* name_of(std::memory_order order);
/// Returns the next weaker orders that this access may have; empty: it is already relaxed.
std::vector<std::memory_order> weaker_orders(const char* operation, std::memory_order order);
/// Lists the events in the order in which they were added, one per line.
std::string describe(const graph& g);

}  // namespace sukima::memory
