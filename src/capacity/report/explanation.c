// SPDX-License-Identifier: Apache-2.0
// Explains an estimate: one sentence for each fact on which it is based.
#include <errno.h>
#include <math.h>
#include <string.h>

#include "estimate/estimator.h"
#include "follow/group_path.h"
#include "report/report.h"

// Less than this part of a CPU, or of the time, is not mentioned.
static const double worth_a_line = 0.01;
static const double least_use = 0.003;
enum { most_neighbours = 12 };

typedef struct explanation_writer {
  cap_report_builder* builder;
  char text[512];
  cap_writer out;
} explanation_writer;

static void begin(explanation_writer* to, const char* text) {
  to->out = cap_writer_make(to->text, sizeof to->text);
  cap_write(&to->out, text);
}

static void add_limit(explanation_writer* to, sukima_capacity_kind kind, double value, const char* file) {
  sukima_capacity_limit limit = {.kind = kind, .value = value, .file = file, .text = to->text};
  cap_report_take_limit(to->builder, &limit);
}

static void write_cpus(explanation_writer* to, double cpus) {
  cap_write_decimal(&to->out, round(cpus * 100) / 100);
  cap_write(&to->out, fabs(cpus - 1) < 0.005 ? " CPU" : " CPUs");
}

static void write_percent(explanation_writer* to, double part) {
  cap_write_decimal(&to->out, round(part * 1000) / 10);
  cap_write(&to->out, " %");
}

static void explain_host(explanation_writer* to, const sukima_capacity_estimator* all) {
  if (isnan(all->load.host_cpus)) return;
  begin(to, "the host of this virtual machine advertises ");
  write_cpus(to, all->load.host_cpus);
  add_limit(to, SUKIMA_CAPACITY_HOST, all->load.host_cpus,
            all->host.from_port ? CAP_HOST_PORT : CAP_HOST_FILE);
}

static void explain_steal(explanation_writer* to, const sukima_capacity_estimator* all) {
  if (!(all->load.stolen > worth_a_line)) return;
  bool reported = all->load.stolen <= all->steal_time;
  begin(to, "the hypervisor takes ");
  write_percent(to, all->load.stolen);
  cap_write(&to->out, " of the CPU time that this machine wants");
  if (!reported) cap_write(&to->out, ", unreported: this kernel counts it as used");
  double online = all->facts.online != 0 ? all->facts.online : all->facts.cap;
  add_limit(to, SUKIMA_CAPACITY_STEAL, all->load.stolen * online, reported ? "/proc/stat" : "steal probe");
}

static void explain_throttling(explanation_writer* to, const sukima_capacity_estimator* all) {
  if (!(all->load.throttled > worth_a_line)) return;
  begin(to, "a quota held the process's group back for ");
  write_percent(to, all->load.throttled);
  cap_write(&to->out, " of the time");
  add_limit(to, SUKIMA_CAPACITY_THROTTLING, all->load.throttled, "cpu.stat");
}

static void explain_hidden(explanation_writer* to, const sukima_capacity_estimator* all) {
  double unseen = cap_unseen_use(all);
  if (unseen > 0) {
    begin(to, "programs that cannot be seen from here use ");
    write_cpus(to, unseen);
    add_limit(to, SUKIMA_CAPACITY_NEIGHBOUR, unseen, "/proc/stat");
  }
  if (all->followed.tree_visible || !cap_has_hidden_quota(all)) return;
  begin(to,
        "a group that cannot be seen from here seems to have a quota: the process's threads wait although ");
  write_cpus(to, all->load.idle);
  cap_write(&to->out, " are idle");
  add_limit(to, SUKIMA_CAPACITY_THROTTLING, fmin(1, all->load.waiting / fmax(1, all->load.wanted)),
            "/proc/PID/task/TID/schedstat");
}

static void explain_waiting(explanation_writer* to, const sukima_capacity_estimator* all) {
  if (!(all->load.waiting > worth_a_line)) return;
  begin(to, "on average ");
  cap_write_decimal(&to->out, round(all->load.waiting * 100) / 100);
  cap_write(&to->out, " of the process's threads waited for CPUs that others used");
  add_limit(to, SUKIMA_CAPACITY_WAITING, all->load.waiting, "/proc/PID/task/TID/schedstat");
}

static void explain_pressure(explanation_writer* to, const sukima_capacity_estimator* all) {
  if (!(all->load.pressure > worth_a_line)) return;
  begin(to, "for ");
  write_percent(to, all->load.pressure);
  cap_write(&to->out, " of the time some thread of the machine waited for a CPU");
  add_limit(to, SUKIMA_CAPACITY_PRESSURE, all->load.pressure, "/proc/pressure/cpu");
}

static void explain_cores(explanation_writer* to, const sukima_capacity_estimator* all) {
  uint32_t cores = all->load.cores;
  if (cores == 0 || cores >= all->facts.cap) return;
  begin(to, "its ");
  cap_write_number(&to->out, all->facts.cap);
  cap_write(&to->out, " CPUs are threads of ");
  cap_write_number(&to->out, cores);
  cap_write(&to->out, cores == 1 ? " core" : " cores");
  cap_write(&to->out, ": two threads on one core are slower than on two cores");
  add_limit(to, SUKIMA_CAPACITY_CORE, cores, "/sys/devices/system/cpu/cpu*/topology/thread_siblings_list");
}

static void explain_nice(explanation_writer* to, const sukima_capacity_estimator* all) {
  const cap_followed* followed = &all->followed;
  if (followed->own_weight != 1) {
    begin(to, "the process's threads have ");
    cap_write_decimal(&to->out, followed->own_weight);
    cap_write(&to->out, " times the default weight (nice value and scheduling class)");
    add_limit(to, SUKIMA_CAPACITY_NICE, followed->own_weight, "/proc/PID/stat");
  }
  if (followed->own_session == 0) return;
  begin(to, "the process shares its session's CPU with the session's other processes (autogroup ");
  cap_write_number(&to->out, followed->own_session);
  cap_write(&to->out, ")");
  add_limit(to, SUKIMA_CAPACITY_NICE, followed->own_session_weight, "/proc/PID/autogroup");
}

// Replaces control characters, because a program can choose a name that acts on the reader's terminal.
static void write_name(explanation_writer* to, const char* name) {
  cap_write(&to->out, "'");
  cap_write_printable(&to->out, name, strlen(name));
  cap_write(&to->out, "'");
}

// The name of the program that uses most of a group's CPU; NULL if none is known.
static const char* main_program(const sukima_capacity_estimator* all, int group) {
  const cap_followed* followed = &all->followed;
  const char* name = NULL;
  double most = 0;
  for (int i = 0; i < followed->task_end; i++) {
    const cap_task* task = &followed->tasks[i];
    if (task->number == 0 || task->own || task->group != group || task->name[0] == '\0') continue;
    double use = cap_task_use(followed, task, all->long_ns);
    if (use <= most) continue;
    most = use;
    name = task->name;
  }
  return name;
}

// Writes the number of CPUs to which a neighbour is bound, which shows why it competes with us.
static void write_binding(explanation_writer* to, const sukima_capacity_estimator* all, int binding) {
  if (binding < 0) return;
  uint32_t count = cap_cpu_set_count(&all->followed.bindings[binding]);
  cap_write(&to->out, ", bound to ");
  cap_write_number(&to->out, count);
  cap_write(&to->out, count == 1 ? " CPU" : " CPUs");
}

static void explain_group(explanation_writer* to, const sukima_capacity_estimator* all,
                          const cap_group* group, double use) {
  begin(to, "the group ");
  write_name(to, group->name);
  const char* program = main_program(all, (int)(group - all->followed.groups));
  if (program != NULL) {
    cap_write(&to->out, ", mainly ");
    write_name(to, program);
    cap_write(&to->out, ",");
  }
  cap_write(&to->out, " beside ");
  bool direct = group->level == all->followed.path_length - 1;
  cap_write(&to->out, group->level >= all->followed.path_length ? "it, below its own group, uses "
                      : direct                                  ? "its own uses "
                                                                : "a group above its own uses ");
  write_cpus(to, use);
  cap_write(&to->out, " with weight ");
  cap_write_decimal(&to->out, group->weight);
  add_limit(to, SUKIMA_CAPACITY_NEIGHBOUR, use, all->followed.v2 ? "cpu.stat" : "cpuacct.usage");
}

static void explain_task(explanation_writer* to, const sukima_capacity_estimator* all, const cap_task* task,
                         double use) {
  bool own_group = task->group == all->followed.path[all->followed.path_length - 1];
  begin(to, "");
  write_name(to, task->name[0] != '\0' ? task->name : "a program");
  cap_write(&to->out, " (thread ");
  cap_write_number(&to->out, task->number);
  cap_write(&to->out, own_group ? ") in its own group " : ") in the group above its own, ");
  write_name(to, all->followed.groups[task->group].name);
  if (task->session != 0 && task->session != all->followed.own_session) {
    cap_write(&to->out, ", in another session,");
  } else if (!own_group) {
    cap_write(&to->out, ",");
  }
  cap_write(&to->out, " uses ");
  write_cpus(to, use);
  write_binding(to, all, task->binding);
  char file[48];
  cap_writer path = cap_writer_make(file, sizeof file);
  cap_write(&path, "/proc/");
  cap_write_number(&path, task->number);
  cap_write(&path, "/schedstat");
  add_limit(to, SUKIMA_CAPACITY_NEIGHBOUR, use, file);
}

// Explains the neighbours with the most use first: groups, and threads in groups of the path.
static void explain_neighbours(explanation_writer* to, const sukima_capacity_estimator* all) {
  const cap_followed* followed = &all->followed;
  double before = INFINITY;
  int last = -1;
  for (int written = 0; written < most_neighbours; written++) {
    double most = written == 0 ? least_use : worth_a_line;  // the largest is always named
    int best = -1;
    for (int i = 0; i < followed->group_end + followed->task_end; i++) {
      double use = 0;
      if (i < followed->group_end) {
        const cap_group* group = &followed->groups[i];
        if (group->key != 0 && !group->on_path) use = cap_group_use(followed, group, all->long_ns);
      } else {
        const cap_task* task = &followed->tasks[i - followed->group_end];
        if (task->number != 0 && !task->own && followed->groups[task->group].on_path) {
          use = cap_task_use(followed, task, all->long_ns);
        }
      }
      bool already_written = use > before || (use == before && i <= last);
      if (use > most && !already_written) {
        most = use;
        best = i;
      }
    }
    if (best < 0) return;
    if (best < followed->group_end) {
      explain_group(to, all, &followed->groups[best], most);
    } else {
      explain_task(to, all, &followed->tasks[best - followed->group_end], most);
    }
    before = most;
    last = best;
  }
}

// A hash of the directories in which the process's groups are visible. Mounts can change without the groups.
static uint64_t hash_of_places(const cap_reader* reader) {
  uint64_t hash = 0;
  for (int i = 0; i < cap_hierarchy_count; i++) {
    const cap_place* place = &reader->places[i];
    if (place->match == CAP_NO_MATCH) continue;
    hash = (hash + place->top_length + (uint64_t)i) * 31 + cap_hash_path(place->directory);
  }
  return hash;
}

sukima_capacity_report* sukima_capacity_estimator_explain(sukima_capacity_estimator* all) {
  int saved = errno;
  cap_report_builder builder = {0};
  const cap_listener listener = {&builder, cap_report_take_limit, cap_report_take_note};
  sukima_capacity_facts facts;
  uint32_t notes = all->reader.group_notes;
  all->reader.listener = &listener;
  if (notes != 0) all->reader.groups_found = false;  // so that these notes are reported, too
  const bool was_found = all->group_searches == all->reader.group_searches;
  const uint64_t groups_before = all->reader.groups_hash;
  const uint64_t places_before = hash_of_places(&all->reader);
  cap_reader_read(&all->reader, &facts);
  if (all->host.is_malformed) {
    cap_note(&all->reader, all->host.malformed_from_port ? CAP_HOST_PORT : CAP_HOST_FILE,
             "does not hold a message of the host such as 'sukima-host 1', 'usable 1.5', 'valid 10', 'end' "
             "on lines "
             "of their own; it is ignored");
    facts.note_count = all->reader.notes;
  }
  all->reader.listener = NULL;
  // If the repeated search found the same groups, continue to follow the same neighbours.
  if (was_found && groups_before == all->reader.groups_hash &&
      places_before == hash_of_places(&all->reader)) {
    all->group_searches = all->reader.group_searches;
  }
  facts.generation = all->facts.generation;
  sukima_capacity_estimate estimate;
  sukima_capacity_estimator_usable(all, 0, &estimate);
  builder.has_cause = true;
  builder.cause = sukima_capacity_estimator_cause(all, &estimate);
  explanation_writer to = {.builder = &builder};
  explain_host(&to, all);
  explain_steal(&to, all);
  if (all->load.seconds > 0 && all->followed.path_length != 0) explain_neighbours(&to, all);
  if (all->load.seconds > 0) explain_hidden(&to, all);
  explain_throttling(&to, all);
  explain_waiting(&to, all);
  explain_pressure(&to, all);
  explain_cores(&to, all);
  explain_nice(&to, all);
  sukima_capacity_report* report = cap_report_build(&builder, &all->reader, &facts);
  errno = saved;
  return report;
}
