// SPDX-License-Identifier: Apache-2.0
// Parses the kernel's files about control groups and mounts: one pure function for each format.
#include "cgroup/parse.h"

#include <string.h>

#include "shared/mount_text.h"

static bool only_blanks_left(cap_text* text) {
  cap_text_skip_blanks(text);
  return cap_text_at_end(text);
}

bool cap_parse_positive(cap_text content, uint64_t* value) {
  uint64_t number = 0;
  cap_text_skip_blanks(&content);
  if (!cap_text_take_number(&content, &number) || number == 0 || !only_blanks_left(&content)) return false;
  *value = number;
  return true;
}

bool cap_parse_cfs_quota(cap_text content, cap_quota* quota) {
  cap_text_skip_blanks(&content);
  quota->limited = !cap_text_take(&content, '-');
  quota->quota_us = 0;
  if (!cap_text_take_number(&content, &quota->quota_us) || quota->quota_us == 0) return false;
  return only_blanks_left(&content);
}

bool cap_parse_cpu_max(cap_text content, cap_quota* quota) {
  quota->quota_us = 0;
  cap_text_skip_blanks(&content);
  quota->limited = !cap_text_take_prefix(&content, "max");
  if (quota->limited && (!cap_text_take_number(&content, &quota->quota_us) || quota->quota_us == 0))
    return false;
  if (!cap_text_take(&content, ' ')) return false;
  return cap_parse_positive(content, &quota->period_us);
}

bool cap_parse_cgroup_line(cap_text line, cap_cgroup_line* result) {
  if (!cap_text_take_number(&line, &result->hierarchy) || !cap_text_take(&line, ':')) return false;
  if (!cap_text_take_until(&line, ':', &result->controllers)) return false;
  if (line.begin < line.end && line.end[-1] == '\r') line.end--;
  if (line.begin == line.end || *line.begin != '/') return false;
  static const char removed[] = " (deleted)";
  size_t mark = sizeof removed - 1;
  if (cap_text_length(&line) > mark && memcmp(line.end - mark, removed, mark) == 0) line.end -= mark;
  result->path = line;
  return true;
}

bool cap_list_contains(cap_text list, const char* name) {
  cap_text part;
  while (cap_text_take_until(&list, ',', &part)) {
    if (cap_text_equals(&part, name)) return true;
  }
  return false;
}

// The number that the whole text is; 0 if it is none.
static uint64_t whole_number(cap_text text) {
  uint64_t number = 0;
  return cap_text_take_number(&text, &number) && cap_text_at_end(&text) ? number : 0;
}

bool cap_parse_mount_line(cap_text line, cap_mount_line* result) {
  cap_text number;
  cap_text parent;
  cap_text skipped;
  if (line.begin < line.end && line.end[-1] == '\r') line.end--;
  if (!cap_text_take_until(&line, ' ', &number) || !cap_text_take_until(&line, ' ', &parent)) return false;
  if (!cap_text_take_until(&line, ' ', &skipped)) return false;  // device
  result->number = whole_number(number);
  result->parent = whole_number(parent);
  if (!cap_text_take_until(&line, ' ', &result->root)) return false;
  if (!cap_text_take_until(&line, ' ', &result->mount_point)) return false;
  do {  // mount options, then any number of optional fields up to a lone "-"
    if (!cap_text_take_until(&line, ' ', &skipped)) return false;
  } while (!cap_text_equals(&skipped, "-"));
  if (!cap_text_take_until(&line, ' ', &result->type)) return false;
  if (!cap_text_take_until(&line, ' ', &skipped)) return false;  // source
  result->options = line;
  return true;
}

void cap_unescape(cap_text text, cap_writer* out) {
  while (text.begin < text.end) {
    char character = cap_take_mount_character(&text.begin, text.end);
    cap_write_bytes(out, &character, 1);
  }
}

// Takes the slashes before the next component, and the component, but not the slash after it.
static bool take_component(cap_text* path, cap_text* component) {
  while (cap_text_take(path, '/')) {
  }
  component->begin = path->begin;
  while (path->begin < path->end && *path->begin != '/') path->begin++;
  component->end = path->begin;
  return component->begin != component->end;
}

static bool same_text(const cap_text* a, const cap_text* b) {
  return cap_text_length(a) == cap_text_length(b) && memcmp(a->begin, b->begin, cap_text_length(a)) == 0;
}

static bool is_parent(const cap_text* component) { return cap_text_equals(component, ".."); }

static bool leads_upwards(cap_text path) {
  cap_text part;
  while (take_component(&path, &part)) {
    if (is_parent(&part)) return true;
  }
  return false;
}

cap_relation cap_relate(cap_text mount_root, cap_text group, cap_text* below, unsigned* levels) {
  cap_text root_part;
  cap_text group_part;
  cap_text group_rest = group;
  bool only_parents = true;  // all common components so far are ".."
  bool root_left = false;
  *levels = 0;
  for (;;) {
    root_left = take_component(&mount_root, &root_part);
    bool group_left = take_component(&group, &group_part);
    if (!root_left || !group_left || !same_text(&root_part, &group_part)) break;
    if (!is_parent(&root_part)) only_parents = false;
    group_rest = group;
  }
  *below = (cap_text){group.end, group.end};
  if (leads_upwards(group_rest)) return CAP_UNRELATED;
  // From here on the paths differ. The root is above the group only if the rest of the root leads upward.
  unsigned upwards = 0;
  for (; root_left; root_left = take_component(&mount_root, &root_part)) {
    if (!only_parents || !is_parent(&root_part)) return CAP_UNRELATED;
    upwards++;
  }
  *levels = upwards;
  while (cap_text_length(&group_rest) != 0 && group_rest.end[-1] == '/') group_rest.end--;
  *below = group_rest;
  return upwards == 0 ? CAP_INSIDE : CAP_ABOVE;
}

int cap_path_depth(cap_text path) {
  int depth = 0;
  cap_text part;
  while (take_component(&path, &part)) depth += is_parent(&part) ? -1 : 1;
  return depth;
}
