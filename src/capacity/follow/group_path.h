// SPDX-License-Identifier: Apache-2.0
// Finds the groups from the root to the process's group, and reads their settings. Internal to the capacity
// part.
#ifndef SUKIMA_CAPACITY_FOLLOW_GROUP_PATH_H
#define SUKIMA_CAPACITY_FOLLOW_GROUP_PATH_H

#include "follow/follow.h"

/// Finds the path from the root to the process's group again, and drops everything that was followed. Must be
/// called after cap_reader_read().
void cap_find_group_path(cap_followed* followed, cap_reader* reader);

/// Reads the weight and the quota of each group on the path again.
void cap_read_path_settings(cap_followed* followed, cap_reader* reader);

/// Reads the weight and the quota of a group.
void cap_group_read_settings(cap_followed* followed, cap_reader* reader, cap_group* group,
                             const char* directory);

/// Whether the scheduler divides CPU by this group. In version 2 it does not if the controller cpu is not
/// enabled for the group. Then the group's threads are members of the nearest group above for which it is
/// enabled.
bool cap_group_has_weight(const cap_followed* followed, cap_reader* reader, const char* directory);

/// Reads what a group has used so far. \return false if the kernel does not count it
bool cap_group_read_use(cap_followed* followed, cap_reader* reader, const char* directory, uint64_t* use);

/// Starts to follow a group. `directory` must not be in reader->path or followed->usage_memory.
/// \return its index in followed->groups, or -1 if there is no room
int cap_group_add(cap_followed* followed, cap_reader* reader, const char* directory, uint32_t level,
                  bool on_path);

/// Stops following a group and its threads.
void cap_group_remove(cap_followed* followed, int index);

void cap_task_remove(cap_followed* followed, int index);

/// A hash of a path, never 0. Two paths almost never have the same hash.
uint64_t cap_hash_path(const char* path);

#endif
