// SPDX-License-Identifier: Apache-2.0
// What an estimate rests on, in words.
#include <errno.h>
#include <math.h>
#include <string.h>

#include "estimate/estimator.h"
#include "report/report.h"

// Less than this part of a CPU, or of the time, is not worth a line.
static const double worth_telling = 0.01;
enum { most_neighbours = 12 };

typedef struct teller {
  cap_report_builder* builder;
  char text[512];
  cap_writer out;
} teller;

static void begin(teller* to, const char* text) {
  to->out = cap_writer_make(to->text, sizeof to->text);
  cap_write(&to->out, text);
}

static void tell(teller* to, sukima_capacity_kind kind, double value, const char* file) {
  sukima_capacity_limit limit = {.kind = kind, .value = value, .file = file, .text = to->text};
  cap_report_take_limit(to->builder, &limit);
}

static void write_cpus(teller* to, double cpus) {
  cap_write_decimal(&to->out, round(cpus * 100) / 100);
  cap_write(&to->out, fabs(cpus - 1) < 0.005 ? " CPU" : " CPUs");
}

static void write_percent(teller* to, double part) {
  cap_write_decimal(&to->out, round(part * 1000) / 10);
  cap_write(&to->out, " %");
}

static void tell_host(teller* to, const sukima_capacity_estimator* all) {
  if (isnan(all->load.host_cpus)) return;
  begin(to, "the host of this virtual machine says that it gives ");
  write_cpus(to, all->load.host_cpus);
  tell(to, SUKIMA_CAPACITY_HOST, all->load.host_cpus, all->host.from_port ? CAP_HOST_PORT : CAP_HOST_FILE);
}

static void tell_steal(teller* to, const sukima_capacity_estimator* all) {
  if (!(all->load.stolen > worth_telling)) return;
  bool told = all->load.stolen <= all->steal_time;
  begin(to, "the hypervisor keeps ");
  write_percent(to, all->load.stolen);
  cap_write(&to->out, " of the CPU time that is wanted here");
  if (!told) cap_write(&to->out, ", which this kernel books as used");
  double online = all->facts.online != 0 ? all->facts.online : all->facts.cap;
  tell(to, SUKIMA_CAPACITY_STEAL, all->load.stolen * online, told ? "/proc/stat" : "gaps in a clock");
}

static void tell_throttling(teller* to, const sukima_capacity_estimator* all) {
  if (!(all->load.throttled > worth_telling)) return;
  begin(to, "a quota held the process's group back for ");
  write_percent(to, all->load.throttled);
  cap_write(&to->out, " of the time");
  tell(to, SUKIMA_CAPACITY_THROTTLING, all->load.throttled, "cpu.stat");
}

static void tell_waiting(teller* to, const sukima_capacity_estimator* all) {
  if (!(all->load.waiting > worth_telling)) return;
  begin(to, "of the process's threads ");
  cap_write_decimal(&to->out, round(all->load.waiting * 100) / 100);
  cap_write(&to->out, " waited on average because others had the CPUs");
  tell(to, SUKIMA_CAPACITY_WAITING, all->load.waiting, "/proc/PID/task/TID/schedstat");
}

static void tell_pressure(teller* to, const sukima_capacity_estimator* all) {
  if (!(all->load.pressure > worth_telling)) return;
  begin(to, "for ");
  write_percent(to, all->load.pressure);
  cap_write(&to->out, " of the time some thread of the machine waited for a CPU");
  tell(to, SUKIMA_CAPACITY_PRESSURE, all->load.pressure, "/proc/pressure/cpu");
}

static void tell_cores(teller* to, const sukima_capacity_estimator* all) {
  uint32_t cores = all->load.cores;
  if (cores == 0 || cores >= all->facts.cap) return;
  begin(to, "its ");
  cap_write_number(&to->out, all->facts.cap);
  cap_write(&to->out, " CPUs are threads of ");
  cap_write_number(&to->out, cores);
  cap_write(&to->out, cores == 1 ? " core" : " cores");
  cap_write(&to->out, ": two on one core are slower than two on two");
  tell(to, SUKIMA_CAPACITY_CORE, cores, "/sys/devices/system/cpu/cpu*/topology/thread_siblings_list");
}

static void tell_nice(teller* to, const sukima_capacity_estimator* all) {
  const cap_followed* followed = &all->followed;
  if (followed->own_weight != 1) {
    begin(to, "the process's threads have ");
    cap_write_decimal(&to->out, followed->own_weight);
    cap_write(&to->out, " times the usual weight (nice)");
    tell(to, SUKIMA_CAPACITY_NICE, followed->own_weight, "/proc/PID/stat");
  }
  if (followed->own_session == 0) return;
  begin(to, "the process shares with its session's other processes what the session gets (autogroup ");
  cap_write_number(&to->out, followed->own_session);
  cap_write(&to->out, ")");
  tell(to, SUKIMA_CAPACITY_NICE, followed->own_session_weight, "/proc/PID/autogroup");
}

static void tell_group(teller* to, const sukima_capacity_estimator* all, const cap_group* group, double use) {
  begin(to, "the group '");
  cap_write(&to->out, group->name);
  cap_write(&to->out, "' beside ");
  bool direct = group->level == all->followed.path_length - 1;
  cap_write(&to->out, group->level >= all->followed.path_length ? "it, below its own group, uses "
                      : direct                                  ? "its own uses "
                                                                : "a group above its own uses ");
  write_cpus(to, use);
  cap_write(&to->out, " with weight ");
  cap_write_decimal(&to->out, group->weight);
  tell(to, SUKIMA_CAPACITY_NEIGHBOUR, use, all->followed.v2 ? "cpu.stat" : "cpuacct.usage");
}

static void tell_task(teller* to, const sukima_capacity_estimator* all, const cap_task* task, double use) {
  bool own_group = task->group == all->followed.path[all->followed.path_length - 1];
  begin(to, "the thread ");
  cap_write_number(&to->out, task->number);
  if (task->session != 0 && task->session != all->followed.own_session) {
    cap_write(&to->out, " in another session");
  } else {
    cap_write(&to->out, own_group ? " in its own group" : " in a group above its own");
  }
  cap_write(&to->out, " uses ");
  write_cpus(to, use);
  char file[48];
  cap_writer path = cap_writer_make(file, sizeof file);
  cap_write(&path, "/proc/");
  cap_write_number(&path, task->number);
  cap_write(&path, "/schedstat");
  tell(to, SUKIMA_CAPACITY_NEIGHBOUR, use, file);
}

// The largest first: groups, and threads in groups of the path.
static void tell_neighbours(teller* to, const sukima_capacity_estimator* all) {
  const cap_followed* followed = &all->followed;
  double before = INFINITY;
  int last = -1;
  for (int told = 0; told < most_neighbours; told++) {
    double most = worth_telling;
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
      bool told_already = use > before || (use == before && i <= last);
      if (use > most && !told_already) {
        most = use;
        best = i;
      }
    }
    if (best < 0) return;
    if (best < followed->group_end) {
      tell_group(to, all, &followed->groups[best], most);
    } else {
      tell_task(to, all, &followed->tasks[best - followed->group_end], most);
    }
    before = most;
    last = best;
  }
}

sukima_capacity_report* sukima_capacity_estimator_explain(sukima_capacity_estimator* all) {
  int saved = errno;
  cap_report_builder builder = {0};
  const cap_listener listener = {&builder, cap_report_take_limit, cap_report_take_note};
  sukima_capacity_facts facts;
  uint32_t notes = all->reader.group_notes;
  all->reader.listener = &listener;
  if (notes != 0) all->reader.groups_found = false;  // so that these notes are told, too
  cap_reader_read(&all->reader, &facts);
  all->reader.listener = NULL;
  all->group_searches = all->reader.group_searches;  // what was watched is still there
  facts.generation = all->facts.generation;
  teller to = {.builder = &builder};
  tell_host(&to, all);
  tell_steal(&to, all);
  if (all->load.seconds > 0 && all->followed.path_length != 0) tell_neighbours(&to, all);
  tell_throttling(&to, all);
  tell_waiting(&to, all);
  tell_pressure(&to, all);
  tell_cores(&to, all);
  tell_nice(&to, all);
  sukima_capacity_report* report = cap_report_build(&builder, &all->reader, &facts);
  errno = saved;
  return report;
}
