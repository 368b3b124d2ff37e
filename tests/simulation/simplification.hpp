// SPDX-License-Identifier: Apache-2.0
// Simpler versions of a random program.
#pragma once

#include "../runtime/random/program.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace sukima::simulation {

/// A change of one node. Nodes are numbered in the order of the original program, parents first.
struct simplification {
  enum class kind { cut, once } change = kind::cut;  ///< make it a leaf; evaluate its child once
  std::size_t node = 0;
};
using simplifications = std::vector<simplification>;

/// Applies all changes. Nodes below a cut node are removed.
void simplify(random_programs::program& p, const simplifications& all);
/// Returns the number of nodes.
std::size_t size_of(const random_programs::node& n);

/// Finds changes after which the program still fails. Tries larger parts first.
/// \param original  the program without changes
/// \param fails     whether the program with these changes fails
simplifications simplest(const random_programs::program& original,
                         const std::function<bool(const simplifications&)>& fails);

}  // namespace sukima::simulation
