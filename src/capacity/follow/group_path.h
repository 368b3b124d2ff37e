// SPDX-License-Identifier: Apache-2.0
// The groups from the root down to the process's: finding them, and reading their settings. Internal to the
// capacity part.
#ifndef SUKIMA_CAPACITY_FOLLOW_GROUP_PATH_H
#define SUKIMA_CAPACITY_FOLLOW_GROUP_PATH_H

#include "follow/follow.h"

/// Finds the path from the root to the process's group again and drops everything that was followed. Call it
/// after cap_reader_read().
void cap_find_group_path(cap_followed* followed, cap_reader* reader);

/// Reads weight and quota of every group on the path again.
void cap_read_path_settings(cap_followed* followed, cap_reader* reader);

/// Reads weight and quota of a group.
void cap_group_read_settings(cap_followed* followed, cap_reader* reader, cap_group* group,
                             const char* directory);

/// Whether the scheduler shares CPU by this group. In version 2 it does not where the controller cpu is not
/// enabled: then the group's threads are members of the nearest group above that has it.
bool cap_group_has_weight(const cap_followed* followed, cap_reader* reader, const char* directory);

/// Reads what a group has used so far; false if the kernel does not count it.
bool cap_group_read_use(cap_followed* followed, cap_reader* reader, const char* directory, uint64_t* use);

/// Starts following a group. `directory` must not be in reader->path or followed->usage_memory.
/// \return its index in followed->groups, -1 if there is no room
int cap_group_add(cap_followed* followed, cap_reader* reader, const char* directory, uint32_t level,
                  bool on_path);

/// Stops following a group and its threads.
void cap_group_remove(cap_followed* followed, int index);

void cap_task_remove(cap_followed* followed, int index);

/// A number for a path, never 0; two paths hardly ever have the same.
uint64_t cap_hash_path(const char* path);

#endif
