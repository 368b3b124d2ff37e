// SPDX-License-Identifier: Apache-2.0
// The groups from the root down to the process's: finding them, and reading their settings. Internal to the
// capacity part.
#ifndef SUKIMA_CAPACITY_TREE_H
#define SUKIMA_CAPACITY_TREE_H

#include "watch.h"

/// Finds the path from the root to the process's group anew and forgets all that was watched. The reader has
/// read its facts before.
void sukima_watch_find_tree(sukima_watch* watch, sukima_reader* reader);

/// Reads weight and quota of every group on the path again.
void sukima_watch_read_settings(sukima_watch* watch, sukima_reader* reader);

/// Reads weight and quota of a group.
void sukima_group_read_settings(sukima_watch* watch, sukima_reader* reader, sukima_group* group,
                                const char* directory);

/// Reads what a group has used so far; false if the kernel does not tell.
bool sukima_group_read_use(sukima_watch* watch, sukima_reader* reader, const char* directory, uint64_t* use);

/// Starts watching a group. `directory` must not be in reader->path or watch->usage_memory.
/// \return its index in watch->groups, -1 if there is no room
int sukima_group_add(sukima_watch* watch, sukima_reader* reader, const char* directory, uint32_t level,
                     bool on_path);

/// Stops watching a group and its threads.
void sukima_group_remove(sukima_watch* watch, int index);

void sukima_task_remove(sukima_watch* watch, int index);

/// A number for a path, never 0; two paths hardly ever have the same.
uint64_t sukima_hash_path(const char* path);

#endif
