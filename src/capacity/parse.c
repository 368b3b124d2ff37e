// SPDX-License-Identifier: Apache-2.0
// What is in the files of the kernel that tell about CPU: one pure function a format, for any bytes.
#include "parse.h"

#include <string.h>

static bool only_blanks_left(sukima_text* text) {
  sukima_text_skip_blanks(text);
  return sukima_text_at_end(text);
}

bool sukima_parse_positive(sukima_text content, uint64_t* value) {
  uint64_t number = 0;
  sukima_text_skip_blanks(&content);
  if (!sukima_text_take_number(&content, &number) || number == 0 || !only_blanks_left(&content)) return false;
  *value = number;
  return true;
}

bool sukima_parse_cfs_quota(sukima_text content, sukima_quota* quota) {
  sukima_text_skip_blanks(&content);
  quota->limited = !sukima_text_take(&content, '-');
  quota->quota_us = 0;
  if (!sukima_text_take_number(&content, &quota->quota_us) || quota->quota_us == 0) return false;
  return only_blanks_left(&content);
}

bool sukima_parse_cpu_max(sukima_text content, sukima_quota* quota) {
  quota->quota_us = 0;
  sukima_text_skip_blanks(&content);
  quota->limited = !sukima_text_take_prefix(&content, "max");
  if (quota->limited && (!sukima_text_take_number(&content, &quota->quota_us) || quota->quota_us == 0))
    return false;
  if (!sukima_text_take(&content, ' ')) return false;
  return sukima_parse_positive(content, &quota->period_us);
}

bool sukima_parse_cgroup_line(sukima_text line, sukima_cgroup_line* result) {
  if (!sukima_text_take_number(&line, &result->hierarchy) || !sukima_text_take(&line, ':')) return false;
  if (!sukima_text_take_until(&line, ':', &result->controllers)) return false;
  if (line.begin < line.end && line.end[-1] == '\r') line.end--;
  if (line.begin == line.end || *line.begin != '/') return false;
  static const char removed[] = " (deleted)";
  size_t mark = sizeof removed - 1;
  if (sukima_text_length(&line) > mark && memcmp(line.end - mark, removed, mark) == 0) line.end -= mark;
  result->path = line;
  return true;
}

bool sukima_list_contains(sukima_text list, const char* name) {
  sukima_text part;
  while (sukima_text_take_until(&list, ',', &part)) {
    if (sukima_text_equals(&part, name)) return true;
  }
  return false;
}

bool sukima_parse_mount_line(sukima_text line, sukima_mount_line* result) {
  sukima_text skipped;
  if (line.begin < line.end && line.end[-1] == '\r') line.end--;
  for (int field = 0; field < 3; field++) {  // mount, parent, device
    if (!sukima_text_take_until(&line, ' ', &skipped)) return false;
  }
  if (!sukima_text_take_until(&line, ' ', &result->root)) return false;
  if (!sukima_text_take_until(&line, ' ', &result->mount_point)) return false;
  do {  // mount options, then any number of optional fields up to a lone "-"
    if (!sukima_text_take_until(&line, ' ', &skipped)) return false;
  } while (!sukima_text_equals(&skipped, "-"));
  if (!sukima_text_take_until(&line, ' ', &result->type)) return false;
  if (!sukima_text_take_until(&line, ' ', &skipped)) return false;  // source
  result->options = line;
  return true;
}

static bool is_octal(char character) { return character >= '0' && character <= '7'; }

void sukima_unescape(sukima_text text, sukima_writer* out) {
  while (text.begin < text.end) {
    const char* at = text.begin;
    if (*at == '\\' && text.end - at >= 4 && at[1] <= '3' && is_octal(at[1]) && is_octal(at[2]) &&
        is_octal(at[3])) {
      char character = (char)(((at[1] - '0') << 6) | ((at[2] - '0') << 3) | (at[3] - '0'));
      sukima_write_bytes(out, &character, 1);
      text.begin += 4;
    } else {
      sukima_write_bytes(out, at, 1);
      text.begin++;
    }
  }
}

// Takes the slashes in front of the next component and the component, not the slash behind it.
static bool take_component(sukima_text* path, sukima_text* component) {
  while (sukima_text_take(path, '/')) {
  }
  component->begin = path->begin;
  while (path->begin < path->end && *path->begin != '/') path->begin++;
  component->end = path->begin;
  return component->begin != component->end;
}

static bool same_text(const sukima_text* a, const sukima_text* b) {
  return sukima_text_length(a) == sukima_text_length(b) &&
         memcmp(a->begin, b->begin, sukima_text_length(a)) == 0;
}

static bool is_parent(const sukima_text* component) { return sukima_text_equals(component, ".."); }

static bool leads_upwards(sukima_text path) {
  sukima_text part;
  while (take_component(&path, &part)) {
    if (is_parent(&part)) return true;
  }
  return false;
}

sukima_relation sukima_relate(sukima_text mount_root, sukima_text group, sukima_text* below,
                              unsigned* levels) {
  sukima_text root_part;
  sukima_text group_part;
  sukima_text group_rest = group;
  bool only_parents = true;  // so far all that both have in common is ".."
  bool root_left = false;
  *levels = 0;
  for (;;) {
    root_left = take_component(&mount_root, &root_part);
    bool group_left = take_component(&group, &group_part);
    if (!root_left || !group_left || !same_text(&root_part, &group_part)) break;
    if (!is_parent(&root_part)) only_parents = false;
    group_rest = group;
  }
  *below = (sukima_text){group.end, group.end};
  if (leads_upwards(group_rest)) return SUKIMA_UNRELATED;
  // The root goes on differently: it is above the group only if all that is left of it leads upwards.
  unsigned upwards = 0;
  for (; root_left; root_left = take_component(&mount_root, &root_part)) {
    if (!only_parents || !is_parent(&root_part)) return SUKIMA_UNRELATED;
    upwards++;
  }
  *levels = upwards;
  while (sukima_text_length(&group_rest) != 0 && group_rest.end[-1] == '/') group_rest.end--;
  *below = group_rest;
  return upwards == 0 ? SUKIMA_INSIDE : SUKIMA_ABOVE;
}

int sukima_path_depth(sukima_text path) {
  int depth = 0;
  sukima_text part;
  while (take_component(&path, &part)) depth += is_parent(&part) ? -1 : 1;
  return depth;
}

bool sukima_parse_stat(sukima_text content, uint64_t* pid, uint64_t* policy) {
  sukima_text field;
  if (!sukima_text_take_number(&content, pid)) return false;
  // The second field is the program's name in parentheses, which may itself hold blanks and parentheses.
  const char* name_end = content.end;
  while (name_end > content.begin && name_end[-1] != ')') name_end--;
  if (name_end == content.begin) return false;
  content.begin = name_end;
  if (!sukima_text_take(&content, ' ')) return false;
  for (int number = 3; number <= 41; number++) {
    if (!sukima_text_take_until(&content, ' ', &field)) return false;
  }
  return sukima_text_take_number(&field, policy);
}
