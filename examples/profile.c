// SPDX-License-Identifier: Apache-2.0
// The machine profile from C: writes one as a calibration does, reads it again, and looks up a pair of CPUs.
#define _DEFAULT_SOURCE  // NOLINT(bugprone-reserved-identifier)
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <sukima/capacity/profile.h>

int main(void) {
  char path[4096];
  if (sukima_capacity_profile_path(path, sizeof path) >= sizeof path) return 1;
  sukima_capacity_profile* profile = sukima_capacity_profile_read(NULL, NULL, 0);  // NULL: that path
  printf("this user's profile: %s\n",
         profile != NULL ? "there is one" : "none; sukima calibrate measures it");
  sukima_capacity_profile_free(profile);

  // One with made-up figures, in a file of its own.
  char folder[] = "/tmp/sukima-profile-XXXXXX";
  if (mkdtemp(folder) == NULL) return 1;
  snprintf(path, sizeof path, "%s/profile", folder);
  const uint32_t cpus[] = {0, 1};
  const sukima_capacity_pair pair = {.first = 0, .second = 1, .slowdown = 0.4, .handover_ns = 80};
  const sukima_capacity_profile made = {
      .machine = sukima_capacity_machine(NULL),
      .written = (uint64_t)time(NULL),
      .valid_seconds = 3600,
      .switch_ns = 1500,
      .wake_ns = 5000,
      .cpus = cpus,
      .cpu_count = 2,
      .pairs = &pair,
      .pair_count = 1,
  };
  if (sukima_capacity_profile_write(path, &made) != 0) return 1;

  char error[256] = "";
  profile = sukima_capacity_profile_read(path, error, sizeof error);
  if (profile == NULL) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  const int is_valid = sukima_capacity_profile_check(profile) == SUKIMA_CAPACITY_PROFILE_VALID;
  const sukima_capacity_pair* const found = sukima_capacity_profile_pair(profile, 1, 0);  // in either order
  printf("valid: %s; CPUs 0 and 1: %.0f %% slower together, a hand-over takes %.0f ns\n",
         is_valid ? "yes" : "no", found->slowdown * 100, found->handover_ns);
  sukima_capacity_profile_free(profile);
  unlink(path);
  rmdir(folder);
  return 0;
}
