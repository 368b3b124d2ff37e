// SPDX-License-Identifier: Apache-2.0
// The file of the machine profile: its path, reading, writing, and whether the profile is valid.
#define _GNU_SOURCE
#include "profile/profile_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "limits/reader.h"
#include "shared/output_file.h"
#include "text/file.h"

// A profile of all pairs of 1024 CPUs has about 14 MB. Reading need not be fast.
enum { most_bytes = 32 << 20 };

static uint64_t add_to_hash(uint64_t hash, const char* begin, const char* end) {  // FNV-1a
  for (; begin < end; begin++) hash = (hash ^ (unsigned char)*begin) * 0x100000001b3;
  return (hash ^ '\n') * 0x100000001b3;
}

// Adds the first line that begins with `prefix`. One line is enough, because all CPUs of a machine have the
// same model.
static uint64_t add_line(uint64_t hash, cap_text content, const char* prefix) {
  cap_text line;
  while (cap_text_take_until(&content, '\n', &line)) {
    cap_text rest = line;
    if (cap_text_take_prefix(&rest, prefix)) return add_to_hash(hash, line.begin, line.end);
  }
  return add_to_hash(hash, prefix, prefix);
}

uint64_t sukima_capacity_machine(const char* root) {
  static const char* const lines[] = {"vendor_id", "model name", "CPU implementer", "CPU part", "Hardware"};
  int saved = errno;
  uint64_t hash = 0xcbf29ce484222325;
  char path[cap_path_size];
  static const char* const files[] = {"/proc/cpuinfo", "/sys/devices/system/cpu/online",
                                      "/proc/sys/kernel/osrelease"};
  for (int i = 0; i < 3; i++) {
    char memory[8192];
    cap_writer out = cap_writer_make(path, sizeof path);
    cap_write(&out, root != NULL ? root : "");
    cap_write(&out, files[i]);
    int file = cap_file_open(path);
    long count = file >= 0 ? cap_file_read_again(file, memory, sizeof memory) : 0;
    if (file >= 0) cap_file_close(file);
    cap_text content = {memory, memory + (count > 0 ? count : 0)};
    if (i != 0) {
      hash = add_to_hash(hash, content.begin, content.end);
      continue;
    }
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) hash = add_line(hash, content, lines[k]);
  }
  errno = saved;
  return hash;
}

size_t sukima_capacity_profile_path(char* path, size_t size) {
  const char* given = getenv("SUKIMA_PROFILE");
  const char* cache = getenv("XDG_CACHE_HOME");
  const char* home = getenv("HOME");
  int length = 0;
  if (given != NULL && given[0] != '\0') {
    length = snprintf(path, size, "%s", given);
  } else if (cache != NULL && cache[0] == '/') {
    length = snprintf(path, size, "%s/sukima/profile", cache);
  } else if (home != NULL && home[0] == '/') {
    length = snprintf(path, size, "%s/.cache/sukima/profile", home);
  } else {
    length = snprintf(path, size, "/var/cache/sukima/profile");
  }
  return (size_t)length;
}

static void explain(char* error, size_t error_size, const char* path, const char* problem) {
  if (error != NULL && error_size != 0) snprintf(error, error_size, "%s: %s", path, problem);
}

sukima_capacity_profile* sukima_capacity_profile_read(const char* path, char* error, size_t error_size) {
  char own_path[cap_path_size];
  int saved = errno;
  sukima_capacity_profile* profile = NULL;
  if (path == NULL) {
    sukima_capacity_profile_path(own_path, sizeof own_path);
    path = own_path;
  }
  char* memory = malloc(most_bytes);
  cap_text content;
  int result = memory != NULL ? cap_file_read(path, memory, most_bytes, &content) : ENOMEM;
  if (result == ENOENT) {
    explain(error, error_size, path,
            "there is no profile of this machine; run 'sukima calibrate' to write it");
  } else if (result == cap_file_too_large) {
    explain(
        error, error_size, path,
        "the file is too large for a profile; choose another one, or remove it and run 'sukima calibrate'");
  } else if (result != cap_file_read_ok) {
    char why[160];
    snprintf(why, sizeof why, "%s; make the file readable, or choose another one", strerror(result));
    explain(error, error_size, path, why);
  } else {
    char why[160];
    profile = cap_parse_profile(content, why, sizeof why);
    if (profile == NULL) explain(error, error_size, path, why);
  }
  free(memory);
  errno = saved;
  return profile;
}

void sukima_capacity_profile_free(sukima_capacity_profile* profile) { free(profile); }

sukima_capacity_profile_state sukima_capacity_profile_check(const sukima_capacity_profile* profile) {
  if (profile->machine != sukima_capacity_machine(NULL)) return SUKIMA_CAPACITY_PROFILE_OTHER_MACHINE;
  double age = difftime(time(NULL), (time_t)profile->written);
  return age > profile->valid_seconds ? SUKIMA_CAPACITY_PROFILE_OLD : SUKIMA_CAPACITY_PROFILE_VALID;
}

static bool is_decimal(double value) { return value >= 0 && value < 1e15; }

static bool can_be_written(const sukima_capacity_profile* profile) {
  if (!is_decimal(profile->switch_ns) || !is_decimal(profile->wake_ns) ||
      !(profile->valid_seconds >= 0.001) || !is_decimal(profile->valid_seconds)) {
    return false;
  }
  if (profile->cpu_count > SUKIMA_CAPACITY_PROFILE_MOST ||
      profile->pair_count > SUKIMA_CAPACITY_PROFILE_MOST ||
      profile->latency_count > SUKIMA_CAPACITY_PROFILE_MOST) {
    return false;
  }
  for (size_t i = 0; i < profile->cpu_count; i++) {
    if (profile->cpus[i] >= SUKIMA_CAPACITY_MAX_CPUS) return false;
    if (i != 0 && profile->cpus[i - 1] >= profile->cpus[i]) return false;
  }
  for (size_t i = 0; i < profile->pair_count; i++) {
    const sukima_capacity_pair* pair = &profile->pairs[i];
    if (pair->first >= pair->second || pair->second >= SUKIMA_CAPACITY_MAX_CPUS) return false;
    if (!(pair->slowdown >= 0 && pair->slowdown <= 1) || !is_decimal(pair->handover_ns)) return false;
  }
  for (size_t i = 0; i < profile->latency_count; i++) {
    const sukima_capacity_latency* one = &profile->latencies[i];
    if (one->cpu_node >= SUKIMA_CAPACITY_MAX_CPUS || one->memory_node >= SUKIMA_CAPACITY_MAX_CPUS ||
        !is_decimal(one->ns)) {
      return false;
    }
  }
  return true;
}

// Does not use printf(), which would use the locale's decimal point.
static void print(FILE* out, const char* before, double value) {
  char memory[64];
  cap_writer text = cap_writer_make(memory, sizeof memory);
  cap_write_decimal(&text, value >= 0.0005 ? value : 0);
  fprintf(out, "%s%s", before, memory);
}

// Sets `content` to the text of the present profile if that is of the same machine and not old. Returns
// memory that the caller must free.
static char* read_before(const char* path, const sukima_capacity_profile* next, cap_text* content) {
  struct stat status;
  *content = (cap_text){NULL, NULL};
  if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return NULL;
  char* memory = malloc(most_bytes);
  sukima_capacity_profile* before = NULL;
  if (memory != NULL && cap_file_read(path, memory, most_bytes, content) == cap_file_read_ok)
    before = cap_parse_profile(*content, NULL, 0);
  bool holds = before != NULL && before->machine == next->machine &&
               difftime((time_t)next->written, (time_t)before->written) <= before->valid_seconds;
  sukima_capacity_profile_free(before);
  if (!holds) *content = (cap_text){memory, memory};
  return memory;
}

// Prints the lines that other programs have added to the old profile.
static void print_foreign_lines(FILE* out, cap_text before) {
  cap_text line;
  while (cap_text_take_until(&before, '\n', &line) && !cap_text_equals(&line, "end")) {
    if (!cap_profile_line_is_foreign(line)) continue;
    fwrite(line.begin, 1, (size_t)(line.end - line.begin), out);
    fputc('\n', out);
  }
}

static void print_profile(FILE* out, const sukima_capacity_profile* profile, cap_text before) {
  fprintf(out, "sukima-profile 1\nmachine %016llx\nwritten %llu\n", (unsigned long long)profile->machine,
          (unsigned long long)profile->written);
  print(out, "valid ", profile->valid_seconds);
  print(out, "\nswitch ", profile->switch_ns);
  print(out, "\nwake ", profile->wake_ns);
  fputc('\n', out);
  for (size_t i = 0; i < profile->cpu_count; i++) fprintf(out, "cpu %u\n", profile->cpus[i]);
  for (size_t i = 0; i < profile->pair_count; i++) {
    fprintf(out, "pair %u %u", profile->pairs[i].first, profile->pairs[i].second);
    print(out, " ", profile->pairs[i].slowdown);
    print(out, " ", profile->pairs[i].handover_ns);
    fputc('\n', out);
  }
  for (size_t i = 0; i < profile->latency_count; i++) {
    fprintf(out, "latency %u %u", profile->latencies[i].cpu_node, profile->latencies[i].memory_node);
    print(out, " ", profile->latencies[i].ns);
    fputc('\n', out);
  }
  print_foreign_lines(out, before);
  fputs("end\n", out);
}

// Creates the folders of a path.
static int make_folders(char* path) {
  for (char* slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    int result = mkdir(path, 0755) == 0 || errno == EEXIST ? 0 : errno;
    *slash = '/';
    if (result != 0) return result;
  }
  return 0;
}

static int write_to(const char* path, const sukima_capacity_profile* profile) {
  char folders[cap_path_size];
  if (strlen(path) >= sizeof folders) return ENAMETOOLONG;
  strcpy(folders, path);
  int result = make_folders(folders);
  cap_output_file file;
  cap_text before;
  char* memory = read_before(path, profile, &before);
  if (result == 0) result = cap_output_open(&file, path);
  if (result == 0) print_profile(file.stream, profile, before);
  free(memory);
  if (result != 0) return result;
  // Other users of this machine may read it, too.
  if (!file.in_place && fchmod(file.descriptor, 0644) != 0) result = errno;
  int closed = cap_output_close(&file, result == 0);
  return result != 0 ? result : closed;
}

int sukima_capacity_profile_write(const char* path, const sukima_capacity_profile* profile) {
  char own_path[cap_path_size];
  int saved = errno;
  if (!can_be_written(profile)) return EINVAL;
  if (path == NULL) {
    if (sukima_capacity_profile_path(own_path, sizeof own_path) >= sizeof own_path) return ENAMETOOLONG;
    path = own_path;
  }
  int result = write_to(path, profile);
  errno = saved;
  return result;
}

const sukima_capacity_pair* sukima_capacity_profile_pair(const sukima_capacity_profile* profile, uint32_t one,
                                                         uint32_t other) {
  uint32_t first = one < other ? one : other;
  uint32_t second = one < other ? other : one;
  for (size_t i = 0; i < profile->pair_count; i++) {
    if (profile->pairs[i].first == first && profile->pairs[i].second == second) return &profile->pairs[i];
  }
  return NULL;
}
