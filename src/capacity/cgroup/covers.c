// SPDX-License-Identifier: Apache-2.0
// Mounts that hide control groups: a tmpfs or a bind mount over a group, over a file with its quota, over the
// folder of the hierarchy, or over the list of the process's groups in /proc. What a mount hides follows from
// the number of its parent, not from the order of mountinfo: a root file system often comes after what is in
// it.
#include <string.h>

#include "cgroup/parse.h"
#include "limits/reader.h"

static const char sentence[] =
    "has a mount that hides control groups or their files: their limits are unknown";

// Whether `above` is `path`, or a directory on the way to it.
static bool leads_to(const char* above, size_t length, const char* path) {
  return strncmp(above, path, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

// Whether this is a file of limits, of a group on the way to that directory.
static bool is_file_of_limits(const char* path, const char* directory) {
  static const char* const names[] = {"/cpu.max", "/cpu.cfs_quota_us", "/cpu.cfs_period_us"};
  const char* name = strrchr(path, '/');
  if (name == NULL || !leads_to(path, (size_t)(name - path), directory)) return false;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(name, names[i]) == 0) return true;
  }
  return false;
}

// Whether the mount shows the groups that it hides, as a bind mount of a group to its own place does.
static bool shows_the_same(const char* root, const char* point, const char* directory, const char* group) {
  if (!leads_to(point, strlen(point), directory)) return false;
  const char* below = directory + strlen(point);
  size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
  return strncmp(root, group, length) == 0 && strcmp(group + length, below) == 0;
}

static void check_place(cap_reader* reader, cap_place* place, const cap_mount_line* mount,
                        bool is_same_kind) {
  const char* point = reader->mount_point;
  const char* directory = place->directory + strlen(reader->root);
  if (mount->parent == place->mount_number) {
    bool hides = leads_to(point, strlen(point), directory) || is_file_of_limits(point, directory);
    if (!hides || (is_same_kind && shows_the_same(reader->mount_root, point, directory, place->group)))
      return;
    place->hidden_above = true;
  } else {
    size_t length = strlen(point);
    bool is_beside = mount->parent == place->mount_parent && mount->number != place->mount_number;
    if (!is_beside || length == 0 || length >= strlen(place->mount_point)) return;
    if (!leads_to(point, length, place->mount_point)) return;
    place->match = CAP_NO_MATCH;  // nothing of this mount can be seen
  }
  cap_note(reader, point, sentence);
}

// Whether the mount hides /proc/PID/cgroup.
static bool hides_list_of_groups(const char* point, uint64_t pid) {
  char list[48];
  cap_writer out = cap_writer_make(list, sizeof list);
  cap_write(&out, "/proc/");
  cap_write_number(&out, pid);
  cap_write(&out, "/cgroup");
  size_t length = strlen(point);
  return length > strlen("/proc") && leads_to(point, length, list);
}

void cap_check_cover(cap_reader* reader, const struct cap_mount_line* mount, const bool* shows,
                     uint64_t pid) {
  cap_writer point = cap_writer_make(reader->mount_point, sizeof reader->mount_point);
  cap_writer root = cap_writer_make(reader->mount_root, sizeof reader->mount_root);
  cap_unescape(mount->mount_point, &point);
  cap_unescape(mount->root, &root);
  if (point.overflow || root.overflow) return;
  if (strcmp(reader->mount_point, "/") == 0) reader->mount_point[0] = '\0';
  if (hides_list_of_groups(reader->mount_point, pid)) {
    for (int i = 0; i < cap_hierarchy_count; i++) reader->places[i].hidden_above = true;
    cap_note(reader, reader->mount_point, sentence);
  }
  for (int i = 0; i < cap_hierarchy_count; i++) {
    cap_place* place = &reader->places[i];
    if (i == CAP_V1_CPUACCT || place->match == CAP_NO_MATCH || mount->parent == 0) continue;
    check_place(reader, place, mount, shows[i]);
  }
}
