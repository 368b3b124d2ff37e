// SPDX-License-Identifier: Apache-2.0
// This process's node: made by its first entry, from what `sukima cluster run` or an mpirun has said.
#include "entry/environment.hpp"
#include "protocol/build_id.hpp"
#include "steal/node.hpp"
#include "transport/mpi.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace sukima {

namespace cluster {
namespace {

constexpr int status_usage = 2;
constexpr int status_lost = 75;  ///< EX_TEMPFAIL of sysexits.h: running it again may help

/// Ends this process without the program's own ends: they may wait for what will not come.
[[noreturn]] void end_process(const std::string& sentence, int status) {
  std::fflush(nullptr);
  std::fprintf(stderr, "sukima: %s\n", sentence.c_str());
  std::_Exit(status);
}

const char* variable(const char* name) { return std::getenv(name); }

/// Who this process is, from what its starter has said: the launcher, or else an MPI.
struct own_place {
  std::optional<tcp_settings> tcp;
  std::optional<mpi_place> mpi;
  node_id node() const noexcept { return tcp ? tcp->own.node : mpi ? mpi->node : 0; }
  unsigned nodes() const noexcept { return tcp ? tcp->own.nodes : mpi ? mpi->nodes : 1; }
};

const own_place& where_started() {
  static const own_place found = [] {
    own_place p;
    try {
      p.tcp = read_environment(variable);
    } catch (const start_failure& failure) {
      end_process(failure.what(), status_usage);
    }
    if (!p.tcp) p.mpi = started_by_mpi(variable);
    return p;
  }();
  return found;
}

std::unique_ptr<transport> own_transport(const own_place& at) {
  const form_table forms;
  const std::string id = build_id(forms.places());
  if (at.tcp) {
    tcp_settings settings = *at.tcp;
    settings.own.version = SUKIMA_VERSION;
    settings.own.build_id = id;
    return make_tcp_transport(std::move(settings));
  }
  const char* const folder = variable(variable_plugins);
  return make_mpi_transport(
      at.mpi->kind,
      {.nodes = at.mpi->nodes, .program = "Sukima " SUKIMA_VERSION ", build id " + id, .finalizes = true},
      folder != nullptr ? folder : "");
}

/// The node, as long as the process lives.
class own_node {
 public:
  own_node() {
    const own_place& at = where_started();
    if (!at.tcp && !at.mpi) return;
    node_options options;
    options.on_loss = [](const std::string& why) { end_process(why, status_lost); };
    try {
      node_ = new node(default_runtime(), own_transport(at), std::move(options));
    } catch (const start_failure& failure) {
      end_process("node " + std::to_string(at.node()) + ": " + failure.what(), status_usage);
    }
  }
  /// A child after fork() has no cluster thread, and is no node.
  ~own_node() {
    if (getpid() == process_) delete node_;
  }
  own_node(const own_node&) = delete;
  own_node& operator=(const own_node&) = delete;

  /// Null: the process runs alone.
  node* get() const noexcept { return getpid() == process_ ? node_ : nullptr; }

 private:
  const pid_t process_ = getpid();
  node* node_ = nullptr;
};

/// That of own_node_of_process(), once that is made.
std::atomic<const own_node*> known{nullptr};

/// Made by the first entry. \returns null: the process runs alone
node* own_node_of_process() {
  static own_node mine;
  known = &mine;
  return mine.get();
}

}  // namespace

traffic statistics() {
  const own_node* const mine = known.load();
  const node* const n = mine != nullptr ? mine->get() : nullptr;
  return n != nullptr ? n->statistics() : traffic{};
}

std::uint32_t nodes() { return where_started().nodes(); }

std::uint32_t this_node() { return where_started().node(); }

}  // namespace cluster

namespace detail {

void run_cluster_entry(cluster_entry& entry) {
  if (!is_inside()) {
    if (cluster::node* const node = cluster::own_node_of_process()) {
      node->run(entry);
      return;
    }
  }
  sukima::run([&](context c) { entry.run(entry, c); });
}

}  // namespace detail
}  // namespace sukima
