// SPDX-License-Identifier: Apache-2.0
// Finding the directories of the process's control groups: version 1, version 2, both, inside and outside of
// cgroup namespaces.
#include "reader.h"

#include <string.h>

#include "file.h"
#include "parse.h"

static uint64_t add_to_hash(uint64_t hash, const sukima_text* line) {  // FNV-1a
  for (const char* at = line->begin; at < line->end; at++) hash = (hash ^ (unsigned char)*at) * 0x100000001b3;
  return (hash ^ '\n') * 0x100000001b3;
}

static bool belongs_to(const sukima_cgroup_line* line, sukima_hierarchy hierarchy) {
  switch (hierarchy) {
    case SUKIMA_V1_CPU:
      return line->hierarchy != 0 && sukima_list_contains(line->controllers, "cpu");
    case SUKIMA_V1_CPUSET:
      return line->hierarchy != 0 && sukima_list_contains(line->controllers, "cpuset");
    case SUKIMA_V1_CPUACCT:
      return line->hierarchy != 0 && sukima_list_contains(line->controllers, "cpuacct");
    default:
      return line->hierarchy == 0 && sukima_text_length(&line->controllers) == 0;
  }
}

static void take_group(sukima_reader* reader, const sukima_cgroup_line* line) {
  for (int i = 0; i < sukima_hierarchy_count; i++) {
    sukima_place* place = &reader->places[i];
    if (place->listed || !belongs_to(line, (sukima_hierarchy)i)) continue;
    sukima_writer out = sukima_writer_make(place->group, sizeof place->group);
    sukima_write_bytes(&out, line->path.begin, sukima_text_length(&line->path));
    place->listed = !out.overflow;
    if (out.overflow)
      sukima_note(reader, reader->path, "the path of a control group is too long; it is ignored");
  }
}

// Reads /proc/PID/cgroup for its hash, and if `take` is set for the groups.
static uint64_t read_groups(sukima_reader* reader, bool take) {
  uint64_t hash = 0xcbf29ce484222325;
  if (!sukima_make_process_path(reader, "/cgroup")) return hash;
  sukima_line_reader lines;
  int error = sukima_line_reader_open(&lines, reader->path, reader->lines, sizeof reader->lines);
  if (error != 0) {
    if (take) sukima_note_unreadable(reader, reader->path, error);
    return hash;
  }
  sukima_text line;
  while (sukima_line_reader_next(&lines, &line)) {
    hash = add_to_hash(hash, &line);
    sukima_cgroup_line group;
    if (!take) continue;
    if (sukima_parse_cgroup_line(line, &group)) {
      take_group(reader, &group);
    } else {
      sukima_note(reader, reader->path, "a line is malformed; it is ignored");
    }
  }
  if (take && lines.error != 0) sukima_note_unreadable(reader, reader->path, lines.error);
  if (take && lines.too_long != 0) sukima_note(reader, reader->path, "a line is too long; it is ignored");
  sukima_line_reader_close(&lines);
  return hash;
}

uint64_t sukima_reader_hash_groups(sukima_reader* reader) { return read_groups(reader, false); }

// Says how well the mount shows the group; the group's directory (or that of the group above) is in
// reader->path.
static sukima_match judge(sukima_reader* reader, sukima_relation relation, unsigned levels, uint64_t pid) {
  const char* point = reader->mount_point;
  switch (relation) {
    case SUKIMA_INSIDE: {
      bool group =
          sukima_make_path(reader, point, reader->below, "/cgroup.procs") && sukima_file_exists(reader->path);
      if (!sukima_make_path(reader, point, reader->below, "") || !sukima_file_exists(reader->path)) break;
      return group ? SUKIMA_SHOWS_GROUP : SUKIMA_SHOWS_DIRECTORY;
    }
    case SUKIMA_ABOVE:
      if (!sukima_make_path(reader, point, "", "")) break;
      if (sukima_reader_search(reader, levels, pid)) return SUKIMA_SHOWS_GROUP;
      sukima_make_path(reader, point, "", "");
      return SUKIMA_SHOWS_ANCESTOR;
    case SUKIMA_UNRELATED:
      if (sukima_make_path(reader, point, "", "") && sukima_reader_lists_process(reader, pid)) {
        return SUKIMA_CONTAINS_PROCESS;
      }
      break;
  }
  return SUKIMA_NO_MATCH;
}

// Fills mount_root and mount_point of the work memory.
static bool take_paths(sukima_reader* reader, const sukima_mount_line* mount) {
  sukima_writer root = sukima_writer_make(reader->mount_root, sizeof reader->mount_root);
  sukima_writer point = sukima_writer_make(reader->mount_point, sizeof reader->mount_point);
  sukima_unescape(mount->root, &root);
  sukima_unescape(mount->mount_point, &point);
  if (root.overflow || point.overflow || root.memory[0] != '/' || point.memory[0] != '/') {
    sukima_note(reader, "/proc/self/mountinfo",
                "the path of a control group mount cannot be used; it is ignored");
    return false;
  }
  if (strcmp(reader->mount_point, "/") == 0) reader->mount_point[0] = '\0';
  return true;
}

// Takes this mount if it shows the group better than the ones before.
static void try_mount(sukima_reader* reader, sukima_place* place, const sukima_mount_line* mount,
                      uint64_t pid) {
  if (!take_paths(reader, mount)) return;
  sukima_text root = {reader->mount_root, reader->mount_root + strlen(reader->mount_root)};
  sukima_text group = {place->group, place->group + strlen(place->group)};
  sukima_text below;
  unsigned levels = 0;
  sukima_relation relation = sukima_relate(root, group, &below, &levels);
  sukima_writer out = sukima_writer_make(reader->below, sizeof reader->below);
  sukima_write_bytes(&out, below.begin, sukima_text_length(&below));

  sukima_match found = judge(reader, relation, levels, pid);
  int depth = sukima_path_depth(root);
  // A later mount at the same place hides the earlier one.
  bool hides = place->match != SUKIMA_NO_MATCH && strcmp(place->mount_point, reader->mount_point) == 0;
  bool better = found > place->match || (found == place->match && depth < place->mount_root_depth);
  if (!hides && !better) return;
  place->match = found;
  place->mount_root_depth = depth;
  place->level = found == SUKIMA_SHOWS_ANCESTOR ? levels + (uint32_t)sukima_path_depth(below) : 0;
  place->top_length = strlen(reader->root) + strlen(reader->mount_point);
  // Otherwise the highest visible group itself tells: see check_visibility().
  place->hidden_above = depth > 0 || found == SUKIMA_SHOWS_ANCESTOR || found == SUKIMA_CONTAINS_PROCESS;
  strcpy(place->mount_point, reader->mount_point);
  strcpy(place->directory, reader->path);
}

static void read_mounts(sukima_reader* reader) {
  // Not /proc/PID/mountinfo: it is ourselves who open the files.
  if (!sukima_make_path(reader, "/proc/self/mountinfo", "", "")) return;
  uint64_t pid = sukima_process_number(reader);
  sukima_make_path(reader, "/proc/self/mountinfo", "", "");
  sukima_line_reader lines;
  int error = sukima_line_reader_open(&lines, reader->path, reader->lines, sizeof reader->lines);
  if (error != 0) {
    sukima_note_unreadable(reader, reader->path, error);
    return;
  }
  sukima_text line;
  bool malformed = false;
  while (sukima_line_reader_next(&lines, &line)) {
    sukima_mount_line mount;
    if (!sukima_parse_mount_line(line, &mount)) {
      malformed = true;
      continue;
    }
    bool v1 = sukima_text_equals(&mount.type, "cgroup");
    bool shows[sukima_hierarchy_count] = {
        [SUKIMA_V1_CPU] = v1 && sukima_list_contains(mount.options, "cpu"),
        [SUKIMA_V1_CPUSET] = v1 && sukima_list_contains(mount.options, "cpuset"),
        [SUKIMA_V1_CPUACCT] = v1 && sukima_list_contains(mount.options, "cpuacct"),
        [SUKIMA_V2] = sukima_text_equals(&mount.type, "cgroup2"),
    };
    for (int i = 0; i < sukima_hierarchy_count; i++) {
      sukima_place* place = &reader->places[i];
      if (shows[i] && place->listed) try_mount(reader, place, &mount, pid);
    }
  }
  sukima_line_reader_close(&lines);
  sukima_make_path(reader, "/proc/self/mountinfo", "", "");
  if (malformed) sukima_note(reader, reader->path, "a line is malformed; it is ignored");
  if (lines.error != 0) sukima_note_unreadable(reader, reader->path, lines.error);
  if (lines.too_long != 0) sukima_note(reader, reader->path, "a line is too long; it is ignored");
}

// The group at the top of what is visible has a file that only groups with a group above them have (or lacks
// one that only the root has).
static bool is_below_others(sukima_reader* reader, const sukima_place* place, bool v2) {
  if (!v2) {
    return sukima_make_path(reader, place->mount_point, "/release_agent", "") &&
           !sukima_file_exists(reader->path);
  }
  return sukima_make_path(reader, place->mount_point, "/cgroup.events", "") &&
         sukima_file_exists(reader->path);
}

static void check_visibility(sukima_reader* reader) {
  static const char* const names[sukima_hierarchy_count] = {
      "the version 1 hierarchy of the controller cpu", "the version 1 hierarchy of the controller cpuset",
      "the version 1 hierarchy of the controller cpuacct", "the version 2 hierarchy"};
  for (int i = 0; i < sukima_hierarchy_count; i++) {
    if (i == SUKIMA_V1_CPUACCT) continue;  // it limits nothing
    sukima_place* place = &reader->places[i];
    // The kernel lists version 2 always, whether anybody uses it or not.
    bool matters = place->listed && (i != SUKIMA_V2 || !reader->places[SUKIMA_V1_CPU].listed);
    if (place->match != SUKIMA_NO_MATCH) {
      place->hidden_above = place->hidden_above || is_below_others(reader, place, i == SUKIMA_V2);
    } else if (matters) {
      place->hidden_above = true;
      sukima_note(reader, names[i],
                  "the process's group is not visible in any mount: its limits are unknown");
    }
    if (place->match == SUKIMA_SHOWS_ANCESTOR) {
      sukima_note(reader, place->directory,
                  "only this group above the process's own was found: limits between them are unknown");
    }
  }
}

void sukima_reader_discover(sukima_reader* reader) {
  uint32_t notes_before = reader->notes;
  for (int i = 0; i < sukima_hierarchy_count; i++) {
    sukima_place* place = &reader->places[i];
    place->listed = false;
    place->match = SUKIMA_NO_MATCH;
    place->hidden_above = false;
  }
  reader->groups_hash = read_groups(reader, true);
  read_mounts(reader);
  check_visibility(reader);
  reader->discovery_notes = reader->notes - notes_before;
  reader->discovered = true;
  reader->discoveries++;
}
