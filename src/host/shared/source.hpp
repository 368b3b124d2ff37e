// SPDX-License-Identifier: Apache-2.0
// Where facts about the virtual machines of a host come from: one small interface, with libvirt, QEMU's
// monitors and control groups behind it. docs/host.md says what each of them knows.
#pragma once

#include <chrono>
#include <memory>

#include "description.hpp"

namespace sukima::host {

/// A source cannot be used, in one sentence that says what to do.
class source_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A machine that has ended is in no snapshot.
enum class vm_state { running, paused };

/// A virtual machine, or a container, as a source sees it.
struct observed_vm {
  /// Its part of a description. `ran` and `waited` count from its start, and `waited` contains throttling;
  /// `demand` is not set.
  host::vm now;
  vm_state state = vm_state::running;
  /// It did not answer before the deadline: what stands here is older.
  bool stale = false;
  /// When the counters were read, in seconds of a clock that never jumps.
  double read_at = 0;
  /// Differs from one start of the same machine to the next; empty if the source does not know.
  std::string run;
  /// The name of the source.
  std::string source;
  /// For how long quotas held its vCPUs back, in seconds, summed over them; none: unknown.
  std::optional<double> throttled;
  /// The pCPU on which each vCPU was seen last, in their order; may be shorter.
  std::vector<std::optional<std::uint32_t>> last_pcpu;
};

/// A host at one moment, as a source sees it.
struct snapshot {
  /// Seconds since 1970, and of the clock of observed_vm::read_at.
  double taken = 0, clock = 0;
  std::vector<pcpu> pcpus;
  /// For how long each pCPU was busy since the host's start, in seconds, by any use; empty: unknown.
  std::vector<double> busy;
  std::vector<observed_vm> vms;
  /// What could not be read, a sentence each.
  std::vector<std::string> notes;
};

/// What a source knows besides names and running times.
struct capabilities {
  std::string name;  ///< "libvirt", "qmp", "control groups", …
  bool waiting = false, throttling = false, weights = false, caps = false, affinities = false;
};

using deadline = std::chrono::steady_clock::time_point;

class source {
 public:
  virtual ~source() = default;
  /// Reads the host; returns at the deadline at the latest, give or take a few milliseconds. A machine that
  /// did not answer by then is stale if it has ever answered, and otherwise only in the notes.
  /// \throws source_error if nothing can be read at all; a later call may succeed
  virtual snapshot read(deadline end) = 0;
  virtual capabilities can() const = 0;
};

/// All of libvirt's active domains, read over a read-only connection in a thread of its own.
/// \param uri such as "qemu:///system" \param root see read_machine
/// \throws source_error if this machine or this build has no libvirt
std::unique_ptr<source> open_libvirt(const std::string& uri, const std::string& root = "");

/// Domains as a file has them, in the format of `virsh domstats`; see parse_domains. It is read again each
/// time.
/// \param path "-" is standard input, which is read once
/// \throws source_error if it cannot be read or holds no domain
std::unique_ptr<source> open_domain_file(const std::string& path, const std::string& root = "");

struct qmp_options {
  std::vector<std::string> sockets;
  /// Also those that the command lines of running QEMU processes name, looked for at each reading.
  bool find = false;
  std::string root;
};

/// Virtual machines of QEMU, by their monitors' sockets.
std::unique_ptr<source> open_qmp(const qmp_options& options);

struct control_group_options {
  /// Groups by their paths from the root of their hierarchy, such as "/docker/*", with the patterns of
  /// glob(7).
  std::vector<std::string> paths;
  /// Also all that look like containers of docker, podman, containerd, CRI-O, LXC or systemd-nspawn.
  bool find = false;
  std::string root;
};

/// Control groups of containers, version 1 and 2.
/// \throws source_error if no hierarchy with the controller cpu is mounted
std::unique_ptr<source> open_control_groups(const control_group_options& options);

/// Several sources as one. The machines of a source that fails are missing, with a note.
/// Precondition: there is at least one.
std::unique_ptr<source> join_sources(std::vector<std::unique_ptr<source>> parts);

/// The pCPUs that are online, with their nodes and cores, and for how long each was busy; from /sys and
/// /proc.
/// \param root goes before these paths, to read a recorded machine
/// \throws source_error if /proc/stat cannot be read
snapshot read_machine(const std::string& root);

}  // namespace sukima::host
