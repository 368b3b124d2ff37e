// SPDX-License-Identifier: Apache-2.0
// Divides the objects of a program into groups.
#pragma once

#include <vector>

#include "shared/description.hpp"

namespace sukima::objects::model {

/// Objects that stay together, because it is wished, or because a local stream connects them and groups are
/// processes: the number of the cluster of each object, from 0 without gaps.
std::vector<std::size_t> clusters_of(const description& program, bool groups_are_processes);

/// Numbers from 0 without gaps, in the order of their first appearance.
void renumber(std::vector<std::size_t>& groups);

/// Divides into at most `count` groups with about the same computing and few messages between them, by
/// METIS.
/// \param clusters of clusters_of; a group contains whole clusters
/// \pre count is from 2 to the number of clusters
std::vector<std::size_t> group(const description& program, const flow& all,
                               const std::vector<std::size_t>& clusters, std::size_t count);

}  // namespace sukima::objects::model
