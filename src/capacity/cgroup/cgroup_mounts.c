// SPDX-License-Identifier: Apache-2.0
// Finds the directories of the process's control groups, for version 1, version 2, and both together, both
// inside and outside cgroup namespaces.
#include "limits/reader.h"

#include <string.h>

#include "cgroup/parse.h"
#include "text/file.h"

static uint64_t add_to_hash(uint64_t hash, const cap_text* line) {  // FNV-1a
  for (const char* at = line->begin; at < line->end; at++) hash = (hash ^ (unsigned char)*at) * 0x100000001b3;
  return (hash ^ '\n') * 0x100000001b3;
}

static bool belongs_to(const cap_cgroup_line* line, cap_hierarchy hierarchy) {
  switch (hierarchy) {
    case CAP_V1_CPU:
      return line->hierarchy != 0 && cap_list_contains(line->controllers, "cpu");
    case CAP_V1_CPUSET:
      return line->hierarchy != 0 && cap_list_contains(line->controllers, "cpuset");
    case CAP_V1_CPUACCT:
      return line->hierarchy != 0 && cap_list_contains(line->controllers, "cpuacct");
    default:
      return line->hierarchy == 0 && cap_text_length(&line->controllers) == 0;
  }
}

static void take_group(cap_reader* reader, const cap_cgroup_line* line) {
  for (int i = 0; i < cap_hierarchy_count; i++) {
    cap_place* place = &reader->places[i];
    if (place->listed || !belongs_to(line, (cap_hierarchy)i)) continue;
    cap_writer out = cap_writer_make(place->group, sizeof place->group);
    cap_write_bytes(&out, line->path.begin, cap_text_length(&line->path));
    place->listed = !out.overflow;
    if (out.overflow)
      cap_note(reader, reader->path, "has a control group whose path is too long; it is ignored");
  }
}

// Reads /proc/PID/cgroup and returns its hash; if `take` is set, it also stores the groups.
static uint64_t read_groups(cap_reader* reader, bool take) {
  uint64_t hash = 0xcbf29ce484222325;
  if (!cap_make_process_path(reader, "/cgroup")) return hash;
  cap_line_reader lines;
  int error = cap_line_reader_open(&lines, reader->path, reader->lines, sizeof reader->lines);
  if (error != 0) {
    if (take) cap_note_unreadable(reader, reader->path, error);
    return hash;
  }
  cap_text line;
  while (cap_line_reader_next(&lines, &line)) {
    hash = add_to_hash(hash, &line);
    cap_cgroup_line group;
    if (!take) continue;
    if (cap_parse_cgroup_line(line, &group)) {
      take_group(reader, &group);
    } else {
      cap_note(reader, reader->path, "has a malformed line; it is ignored");
    }
  }
  if (take && lines.error != 0) cap_note_unreadable(reader, reader->path, lines.error);
  if (take && lines.too_long != 0)
    cap_note(reader, reader->path, "has a line that is too long; it is ignored");
  cap_line_reader_close(&lines);
  return hash;
}

uint64_t cap_reader_hash_groups(cap_reader* reader) { return read_groups(reader, false); }

// Judges how well the mount shows the group. Writes the directory of the group, or of the ancestor that was
// found, to reader->path.
static cap_match judge(cap_reader* reader, cap_relation relation, unsigned levels, uint64_t pid) {
  const char* point = reader->mount_point;
  switch (relation) {
    case CAP_INSIDE: {
      bool group =
          cap_make_path(reader, point, reader->below, "/cgroup.procs") && cap_file_exists(reader->path);
      if (!cap_make_path(reader, point, reader->below, "") || !cap_file_exists(reader->path)) break;
      return group ? CAP_SHOWS_GROUP : CAP_SHOWS_DIRECTORY;
    }
    case CAP_ABOVE:
      if (!cap_make_path(reader, point, "", "")) break;
      if (cap_find_own_group(reader, levels, pid)) return CAP_SHOWS_GROUP;
      cap_make_path(reader, point, "", "");
      return CAP_SHOWS_ANCESTOR;
    case CAP_UNRELATED:
      if (cap_make_path(reader, point, "", "") && cap_reader_lists_process(reader, pid)) {
        return CAP_CONTAINS_PROCESS;
      }
      break;
  }
  return CAP_NO_MATCH;
}

// Unescapes the mount's root and mount point into reader->mount_root and reader->mount_point.
static bool take_paths(cap_reader* reader, const cap_mount_line* mount) {
  cap_writer root = cap_writer_make(reader->mount_root, sizeof reader->mount_root);
  cap_writer point = cap_writer_make(reader->mount_point, sizeof reader->mount_point);
  cap_unescape(mount->root, &root);
  cap_unescape(mount->mount_point, &point);
  if (root.overflow || point.overflow || root.memory[0] != '/' || point.memory[0] != '/') {
    cap_note(reader, "/proc/self/mountinfo",
             "has a mount of control groups whose path cannot be used; it is ignored");
    return false;
  }
  if (strcmp(reader->mount_point, "/") == 0) reader->mount_point[0] = '\0';
  return true;
}

// Uses this mount if it shows the group better than the earlier mounts.
static void try_mount(cap_reader* reader, cap_place* place, const cap_mount_line* mount, uint64_t pid) {
  if (!take_paths(reader, mount)) return;
  cap_text root = {reader->mount_root, reader->mount_root + strlen(reader->mount_root)};
  cap_text group = {place->group, place->group + strlen(place->group)};
  cap_text below;
  unsigned levels = 0;
  cap_relation relation = cap_relate(root, group, &below, &levels);
  cap_writer out = cap_writer_make(reader->below, sizeof reader->below);
  cap_write_bytes(&out, below.begin, cap_text_length(&below));

  cap_match found = judge(reader, relation, levels, pid);
  int depth = cap_path_depth(root);
  // A later mount at the same place hides the earlier one.
  bool hides = place->match != CAP_NO_MATCH && strcmp(place->mount_point, reader->mount_point) == 0;
  bool better = found > place->match || (found == place->match && depth < place->mount_root_depth);
  if (!hides && !better) return;
  place->match = found;
  place->mount_root_depth = depth;
  place->level = found == CAP_SHOWS_ANCESTOR ? levels + (uint32_t)cap_path_depth(below) : 0;
  place->top_length = strlen(reader->root) + strlen(reader->mount_point);
  place->mount_number = mount->number;
  place->mount_parent = mount->parent;
  // Otherwise check_visibility() looks for hidden ancestors by the files of the highest visible group.
  place->hidden_above = depth > 0 || found == CAP_SHOWS_ANCESTOR || found == CAP_CONTAINS_PROCESS;
  strcpy(place->mount_point, reader->mount_point);
  strcpy(place->directory, reader->path);
}

// A later mount at the same place hides a mount of control groups.
static void hide_places(cap_reader* reader, cap_text mount_point, const bool* shows) {
  cap_writer point = cap_writer_make(reader->mount_point, sizeof reader->mount_point);
  cap_unescape(mount_point, &point);
  for (int i = 0; i < cap_hierarchy_count; i++) {
    cap_place* place = &reader->places[i];
    if (!shows[i] && !point.overflow && strcmp(place->mount_point, reader->mount_point) == 0)
      place->match = CAP_NO_MATCH;
  }
}

typedef void visit_mount(cap_reader* reader, const cap_mount_line* mount, const bool* shows, uint64_t pid);

static void take_mount(cap_reader* reader, const cap_mount_line* mount, const bool* shows, uint64_t pid) {
  hide_places(reader, mount->mount_point, shows);
  for (int i = 0; i < cap_hierarchy_count; i++) {
    cap_place* place = &reader->places[i];
    if (shows[i] && place->listed) try_mount(reader, place, mount, pid);
  }
}

// Visits all mounts. \param noted  whether errors of the file are noted
static void read_mounts(cap_reader* reader, visit_mount* visit, bool noted) {
  // Not /proc/PID/mountinfo, because our own process opens the files.
  if (!cap_make_path(reader, "/proc/self/mountinfo", "", "")) return;
  uint64_t pid = cap_process_number(reader);
  cap_make_path(reader, "/proc/self/mountinfo", "", "");
  cap_line_reader lines;
  int error = cap_line_reader_open(&lines, reader->path, reader->lines, sizeof reader->lines);
  if (error != 0) {
    if (noted) cap_note_unreadable(reader, reader->path, error);
    return;
  }
  cap_text line;
  bool malformed = false;
  while (cap_line_reader_next(&lines, &line)) {
    cap_mount_line mount;
    if (!cap_parse_mount_line(line, &mount)) {
      malformed = true;
      continue;
    }
    bool v1 = cap_text_equals(&mount.type, "cgroup");
    bool shows[cap_hierarchy_count] = {
        [CAP_V1_CPU] = v1 && cap_list_contains(mount.options, "cpu"),
        [CAP_V1_CPUSET] = v1 && cap_list_contains(mount.options, "cpuset"),
        [CAP_V1_CPUACCT] = v1 && cap_list_contains(mount.options, "cpuacct"),
        [CAP_V2] = cap_text_equals(&mount.type, "cgroup2"),
    };
    visit(reader, &mount, shows, pid);
  }
  cap_line_reader_close(&lines);
  if (!noted) return;
  cap_make_path(reader, "/proc/self/mountinfo", "", "");
  if (malformed) cap_note(reader, reader->path, "has a malformed line; it is ignored");
  if (lines.error != 0) cap_note_unreadable(reader, reader->path, lines.error);
  if (lines.too_long != 0) cap_note(reader, reader->path, "has a line that is too long; it is ignored");
}

// Whether the kernel has no control groups: /proc is there, but no list of groups.
static bool lacks_groups(cap_reader* reader) {
  if (!cap_make_process_path(reader, "/cgroup") || cap_file_exists(reader->path)) return false;
  return cap_make_process_path(reader, "/stat") && cap_file_exists(reader->path);
}

// Whether there are groups above the highest visible one. Then that group has a file that the root group
// lacks, or lacks a file that only the root group has.
static bool is_below_others(cap_reader* reader, const cap_place* place, bool v2) {
  if (!v2) {
    return cap_make_path(reader, place->mount_point, "/release_agent", "") && !cap_file_exists(reader->path);
  }
  return cap_make_path(reader, place->mount_point, "/cgroup.events", "") && cap_file_exists(reader->path);
}

static void check_visibility(cap_reader* reader) {
  static const char* const names[cap_hierarchy_count] = {
      "the version 1 hierarchy of the controller cpu", "the version 1 hierarchy of the controller cpuset",
      "the version 1 hierarchy of the controller cpuacct", "the version 2 hierarchy"};
  for (int i = 0; i < cap_hierarchy_count; i++) {
    if (i == CAP_V1_CPUACCT) continue;  // it has no limits
    cap_place* place = &reader->places[i];
    // The kernel always lists version 2, even if it is not used.
    bool matters = place->listed && (i != CAP_V2 || !reader->places[CAP_V1_CPU].listed);
    if (place->match != CAP_NO_MATCH) {
      place->hidden_above = place->hidden_above || is_below_others(reader, place, i == CAP_V2);
    } else if (matters) {
      place->hidden_above = true;
      cap_note(reader, names[i], "has no mount that shows the process's group: its limits are unknown");
    }
    if (place->match == CAP_SHOWS_ANCESTOR) {
      cap_note(
          reader, place->directory,
          "is above the process's own group, and no group between them was found: their limits are unknown");
    }
  }
}

void cap_find_cgroups(cap_reader* reader) {
  uint32_t notes_before = reader->notes;
  for (int i = 0; i < cap_hierarchy_count; i++) {
    cap_place* place = &reader->places[i];
    place->listed = false;
    place->match = CAP_NO_MATCH;
    place->hidden_above = false;
  }
  reader->groups_hash = read_groups(reader, true);
  bool listed = reader->places[CAP_V1_CPU].listed || reader->places[CAP_V2].listed;
  bool unknown = !listed && reader->notes != notes_before && !lacks_groups(reader);
  read_mounts(reader, take_mount, true);
  read_mounts(reader, cap_check_cover, false);
  check_visibility(reader);
  if (unknown) reader->places[CAP_V2].hidden_above = true;
  reader->group_notes = reader->notes - notes_before;
  reader->groups_found = true;
  reader->group_searches++;
}
