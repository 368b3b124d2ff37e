// SPDX-License-Identifier: Apache-2.0
// Divides the objects of a program into groups.
#pragma once

#include <vector>

#include "shared/description.hpp"

namespace sukima::objects::model {

/// Finds objects that must stay together: because the user wants it, or because groups are processes and a
/// local stream connects the objects.
/// \returns the number of the cluster of each object, from 0 without gaps
std::vector<std::size_t> clusters_of(const description& program, bool groups_are_processes);

/// Replaces the numbers by numbers from 0 without gaps, in the order of their first appearance.
void renumber(std::vector<std::size_t>& groups);

/// Divides the objects into at most `count` groups with about the same amount of computing and few messages
/// between groups, by METIS.
/// \param clusters the result of clusters_of; a group contains whole clusters
/// \pre count is from 2 to the number of clusters
std::vector<std::size_t> group(const description& program, const flow& all,
                               const std::vector<std::size_t>& clusters, std::size_t count);

}  // namespace sukima::objects::model
