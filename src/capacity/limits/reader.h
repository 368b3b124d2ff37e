// SPDX-License-Identifier: Apache-2.0
// The reader: its settings, the control groups that it found, and its work memory. Internal to the capacity
// part.
#ifndef SUKIMA_CAPACITY_LIMITS_READER_H
#define SUKIMA_CAPACITY_LIMITS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <sukima/capacity.h>

#include "text/cpu_set.h"
#include "text/text.h"

enum {
  cap_work_size = 65536,    // files with one value are smaller; a longer line of mountinfo is skipped
  cap_error_size = 256,     // for the sentence about an invalid override
  cap_search_levels = 8,    // unknown levels between a mount and our group that are searched
  cap_search_size = 4096,   // directories that are visited
  cap_entries_size = 2048,  // memory for the names of a directory that are read at once
  cap_path_size = 4096,     // the kernel opens no longer path
};

/// The hierarchies of control groups for CPU.
typedef enum cap_hierarchy {
  CAP_V1_CPU,
  CAP_V1_CPUSET,
  CAP_V1_CPUACCT,  ///< has no limits, but counts the groups' use; often the same as CAP_V1_CPU
  CAP_V2,
  cap_hierarchy_count
} cap_hierarchy;

/// How well a mount shows the process's group. Of several mounts, the one with the highest value is used.
typedef enum cap_match {
  CAP_NO_MATCH,
  CAP_SHOWS_ANCESTOR,    ///< only a group above ours; the path from it to ours was not found
  CAP_CONTAINS_PROCESS,  ///< the paths do not match, but the mounted group lists the process
  CAP_SHOWS_DIRECTORY,   ///< the paths match and the directory exists
  CAP_SHOWS_GROUP        ///< and it is a control group
} cap_match;

/// The process's group in one hierarchy, as a directory that is visible to us.
typedef struct cap_place {
  bool listed;                 ///< the process is in such a hierarchy
  cap_match match;          ///< `directory` is valid unless this is CAP_NO_MATCH
  bool hidden_above;           ///< there are groups above ours that are not visible
  uint32_t level;  ///< level of `directory`: 0 is the process's own group, 1 or more a group above it
  size_t top_length;  ///< length of the highest visible group's directory, at the front of `directory`
  int mount_root_depth;      ///< the less deep a mount's root is, the more groups above ours are visible
  uint64_t mount_number;  ///< of the mount that shows the group, as in mountinfo
  uint64_t mount_parent;  ///< number of the mount that it is mounted on
  char mount_point[cap_path_size];  ///< as in mountinfo
  char group[cap_path_size];  ///< as in /proc/PID/cgroup
  char directory[cap_path_size];
} cap_place;

/// Receives limits and notes in addition to the numbers.
typedef struct cap_listener {
  void* owner;
  void (*limit)(void* owner, const sukima_capacity_limit* limit);
  void (*note)(void* owner, const char* file, const char* text);
} cap_listener;

typedef enum cap_open_affinity {
  CAP_NOT_READ_YET,
  CAP_FREE,  ///< the mask was not narrowed, so it follows the cpuset
  CAP_NARROWED  ///< the mask was narrowed, so it stays unchanged
} cap_open_affinity;

typedef struct cap_reader {
  // Settings
  pid_t pid;  // 0: the current process
  sukima_capacity_affinity affinity_of;
  double override_cpus;  // 0: none
  char error[cap_error_size];  // why a given override is not used; "" if there is no error
  char root[cap_path_size];
  const cap_listener* listener;  // may be NULL

  // Results
  bool groups_found;
  uint64_t groups_hash;  // of /proc/PID/cgroup
  uint32_t group_searches;  // how often the process's groups were searched
  uint32_t group_notes;
  uint32_t files_seen;  // files of our groups that could be read in the last pass
  cap_open_affinity open_affinity;
  cap_place places[cap_hierarchy_count];

  // Work memory
  uint32_t notes;
  bool online_is_made_up;  // its numbers are not those of the other sets; only its count has a meaning
  cap_cpu_set online;
  cap_cpu_set affinity;
  cap_cpu_set affinity_at_open;
  cap_cpu_set cpuset;
  char path[cap_path_size];
  char mount_root[cap_path_size];
  char mount_point[cap_path_size];
  char below[cap_path_size];  // the group's path below the mount's root
  char text[512];
  unsigned search_left;  // directories that may still be visited
  _Alignas(8) char entries[cap_search_levels][cap_entries_size];
  char lines[cap_work_size];
  _Alignas(8) char content[cap_work_size];
} cap_reader;

/// Copies the options. \pre the reader is all zero
/// \return 0, or ENAMETOOLONG
int cap_reader_set(cap_reader* reader, const sukima_capacity_options* options);

/// Reads all files for the facts, and sets all members but the generation.
void cap_reader_read(cap_reader* reader, sukima_capacity_facts* facts);

/// Whether all members but the generation are equal.
bool cap_same_facts(const sukima_capacity_facts* a, const sukima_capacity_facts* b);

/// Finds the process's groups from /proc/PID/cgroup and /proc/self/mountinfo.
void cap_find_cgroups(cap_reader* reader);

struct cap_mount_line;

/// Notes that a mount hides groups of the process, files with their quotas, or the list of its groups.
/// \param shows the hierarchies that the mount shows
/// \param pid   the process's number as it is seen from here
/// \pre the process's groups were searched
void cap_check_cover(cap_reader* reader, const struct cap_mount_line* mount, const bool* shows, uint64_t pid);

/// Searches for the process's group if the names of the first directories on the path to it are unknown:
/// tries all directories, and takes the directory that lists the process.
/// \param levels number of unknown directories between the directory in reader->path and the known rest of
/// the path, reader->below
/// \param pid    the process's number in our PID namespace
/// \return true if it was found; then reader->path is its directory
bool cap_find_own_group(cap_reader* reader, unsigned levels, uint64_t pid);

/// Whether cgroup.procs of the directory in reader->path lists the process. Uses reader->content.
bool cap_reader_lists_process(cap_reader* reader, uint64_t pid);

/// A hash of the process's groups in the present content of /proc/PID/cgroup.
uint64_t cap_reader_hash_groups(cap_reader* reader);

/// Allocates memory for a reader and the object that contains it: all zero, from mmap; NULL if there is none.
void* cap_allocate(size_t size);
void cap_release(void* memory, size_t size);

/// Records that a file or value was ignored. `text` continues a sentence whose subject is `file`.
void cap_note(cap_reader* reader, const char* file, const char* text);

/// Records why a file could not be used. `result` is from cap_file_read, or an error number.
void cap_note_unreadable(cap_reader* reader, const char* file, int result);

/// Writes the path root + a + b + c to reader->path.
/// \return false (and adds a note) if the path is too long
bool cap_make_path(cap_reader* reader, const char* a, const char* b, const char* c);

/// Writes the path of a file of the observed process to reader->path; `name` starts with '/'.
bool cap_make_process_path(cap_reader* reader, const char* name);

/// Writes the path of a file of a thread to reader->path. The thread belongs to the observed process, or to
/// another one.
bool cap_make_task_path(cap_reader* reader, bool own, uint64_t number, const char* name);

/// The number of the observed process, even in a recorded tree; 0 if unknown.
uint64_t cap_process_number(cap_reader* reader);

#endif
