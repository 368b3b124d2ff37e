// SPDX-License-Identifier: Apache-2.0
// The accesses of the source text that were executed.
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
  std::string function;  ///< its name without scopes, parameters and template arguments
  const char* operation;  ///< "load", "exchange", …
  std::memory_order order;  ///< as written
};

/// The number of this access, always the same one.
int site_of(const std::source_location& where, const char* operation, std::memory_order order);
const site& site_at(int id);
/// "request_poll exchange"; of several in one function "steal_oldest load 2", in the order of the text.
std::string name_of(int id);
const char* name_of(std::memory_order order);
/// The next weaker orders that this access may have; empty: it is relaxed.
std::vector<std::memory_order> weaker_orders(const char* operation, std::memory_order order);
/// The events in the order in which they were added, one a line.
std::string describe(const graph& g);

}  // namespace sukima::memory
