// SPDX-License-Identifier: Apache-2.0
// Sources of facts about a host's virtual machines. libvirt, QEMU's monitors and control groups share this
// interface. docs/host.md says which facts each of them provides.
#pragma once

#include <chrono>
#include <memory>

#include "description.hpp"

namespace sukima::host {

/// A source cannot be used. The message is one sentence that says what to do.
class source_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The state of a machine in a snapshot. A machine that has ended is not in the snapshot.
enum class vm_state { running, paused };

/// A virtual machine, or a container, as a source sees it.
struct observed_vm {
  /// The machine's part of a description. `ran` and `waited` count from its start, and `waited` includes
  /// throttling. `demand` is not set.
  host::vm now;
  vm_state state = vm_state::running;
  /// It did not answer before the deadline; the data here are from an earlier reading.
  bool stale = false;
  /// When the counters were read, in seconds of a clock that never jumps.
  double read_at = 0;
  /// Identifies one run of the machine: it changes when the machine restarts; empty if the source has no such
  /// value.
  std::string run;
  /// The name of the source.
  std::string source;
  /// How long quotas throttled its vCPUs, in seconds, summed over them; none: unknown.
  std::optional<double> throttled;
  /// The pCPU on which each vCPU was seen last, in their order; may be shorter.
  std::vector<std::optional<std::uint32_t>> last_pcpu;
};

/// A host at one moment, as a source sees it.
struct snapshot {
  /// Seconds since 1970, and seconds of the clock of observed_vm::read_at.
  double taken = 0, clock = 0;
  std::vector<pcpu> pcpus;
  /// How long each pCPU was busy since the host started, in seconds, for any use; empty: unknown.
  std::vector<double> busy;
  std::vector<observed_vm> vms;
  /// A sentence for each thing that could not be read.
  std::vector<std::string> notes;
};

/// The facts that a source provides besides names and running times.
struct capabilities {
  std::string name;  ///< "libvirt", "qmp", "control groups", …
  bool waiting = false, throttling = false, weights = false, caps = false, affinities = false;
};

using deadline = std::chrono::steady_clock::time_point;

class source {
 public:
  virtual ~source() = default;
  /// Reads the host. Returns at the deadline at the latest, within a few milliseconds. A machine that did not
  /// answer by then is stale if it has answered before; otherwise only the notes mention it.
  /// \throws source_error  nothing could be read at all; a later call may succeed
  virtual snapshot read(deadline end) = 0;
  virtual capabilities can() const = 0;
};

/// Opens libvirt, and reads all active domains over a read-only connection in a thread of its own.
/// \param uri such as "qemu:///system"
/// \param root see read_machine
/// \throws source_error  this machine or this build has no libvirt
std::unique_ptr<source> open_libvirt(const std::string& uri, const std::string& root = "");

/// Reads domains from a file in the format of `virsh domstats`; see parse_domains. The file is read again for
/// each snapshot.
/// \param path "-" is standard input, which is read once
/// \throws source_error  the file cannot be read or contains no domain
std::unique_ptr<source> open_domain_file(const std::string& path, const std::string& root = "");

struct qmp_options {
  std::vector<std::string> sockets;
  /// Whether to use also the sockets that the command lines of running QEMU processes name, searched at each
  /// reading.
  bool find = false;
  std::string root;
};

/// Opens virtual machines of QEMU through the sockets of their monitors.
std::unique_ptr<source> open_qmp(const qmp_options& options);

struct control_group_options {
  /// Groups by their paths from the root of their hierarchy, such as "/docker/*". The patterns are those of
  /// glob(7).
  std::vector<std::string> paths;
  /// Whether to use also all groups that look like containers of docker, podman, containerd, CRI-O, LXC or
  /// systemd-nspawn.
  bool find = false;
  std::string root;
};

/// Opens control groups of containers, in version 1 and 2.
/// \throws source_error  no hierarchy with the controller cpu is mounted
std::unique_ptr<source> open_control_groups(const control_group_options& options);

/// Combines several sources into one. If a source fails, its machines are missing and a note says so.
/// \pre there is at least one source
std::unique_ptr<source> join_sources(std::vector<std::unique_ptr<source>> parts);

/// Reads the online pCPUs with their nodes and cores, and how long each was busy, from /sys and /proc.
/// \param root prefix of these paths, to read a recorded machine
/// \throws source_error  /proc/stat cannot be read
snapshot read_machine(const std::string& root);

}  // namespace sukima::host
