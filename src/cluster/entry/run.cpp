// SPDX-License-Identifier: Apache-2.0
// The node of this process. The first entry makes it, as described by `sukima cluster run` or an mpirun.
#include "entry/ending.hpp"
#include "entry/environment.hpp"
#include "entry/leave_signal.hpp"
#include "entry/solution_board.hpp"
#include "entry/start.hpp"
#include "entry/task_output.hpp"
#include "entry/traffic_report.hpp"
#include "hope/node.hpp"
#include "protocol/build_id.hpp"
#include "steal/node.hpp"
#include "transport/mpi_launch.hpp"
#include "transport/mpi_plugin.hpp"
#include "transport/tcp_place.hpp"

#include <sukima/detail/fixed_order.hpp>
#include <sukima/errors.hpp>

#include <tascell/shared/segments.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

namespace sukima {

namespace cluster {
namespace {

const char* variable(const char* name) { return std::getenv(name); }

bool is_hope_wanted() {
  const char* const hope = variable(variable_hope);
  return hope != nullptr && std::string(hope) != "0";
}
/// Loops before the first entry must not differ between the nodes either.
[[maybe_unused]] const bool is_order_fixed = [] {
  if (is_hope_wanted()) sukima::detail::combines_in_fixed_order = true;
  return true;
}();

/// The place of this process in the run, as described by the launcher or an MPI.
struct own_place {
  std::optional<tcp_settings> tcp;
  std::optional<mpi_place> mpi;
  std::string unjoined;  ///< a sentence, if the process has neither and was started beside others
  node_id node() const noexcept { return tcp ? tcp->own.node : mpi ? mpi->node : 0; }
  unsigned nodes() const noexcept { return tcp ? tcp->own.nodes - tcp->room : mpi ? mpi->nodes : 1; }
};

std::string own_build_id() {
  const form_table forms;
  return build_id(forms.places());
}

/// How long a process that joins waits until the run reaches its first entry.
constexpr std::chrono::seconds longest_wait_for_place{30};

/// Sets the number of a process that joins.
/// \throws start_failure it gets no number
void take_place(tcp_settings& settings) {
  const place given = ask_for_place(settings, clock::now() + longest_wait_for_place);
  settings.own.nodes = given.nodes;
  settings.own.node = given.node;
  settings.room = given.room;
  settings.sponsor = given.sponsor;
}

const own_place& where_started() {
  static const own_place found = [] {
    own_place p;
    try {
      p.tcp = read_environment(variable);
      if (p.tcp) {
        p.tcp->own.version = SUKIMA_VERSION;
        p.tcp->own.build_id = own_build_id();
        if (p.tcp->own.asks_for_place()) take_place(*p.tcp);
      }
    } catch (const start_failure& failure) {
      end_process({failure.what(), status_usage});
    }
    if (!p.tcp) p.mpi = started_by_mpi(variable);
    if (!p.tcp && !p.mpi) p.unjoined = started_without_mpi(variable);
    return p;
  }();
  return found;
}

std::unique_ptr<transport> own_transport(const own_place& at) {
  if (at.tcp) {
    tcp_settings settings = *at.tcp;
    // Under hierarchical omission a node need not leave; it may be killed.
    if (!settings.survives_losses) settings.leave_requests = leave_requests();
    return make_tcp_transport(std::move(settings));
  }
  const mpi_place mpi = at.mpi.value_or(mpi_place());
  return make_mpi_transport(mpi.kind,
                            {.nodes = mpi.nodes,
                             .program = "Sukima " SUKIMA_VERSION ", build id " + own_build_id(),
                             .finalizes = true},
                            variable);
}

/// A node of either kind, as the program uses it.
class any_node {
 public:
  any_node() = default;
  any_node(const any_node&) = delete;
  any_node& operator=(const any_node&) = delete;
  virtual ~any_node() = default;
  virtual void run(sukima::detail::cluster_entry& called) = 0;
  virtual traffic statistics() const = 0;
  /// Sends the waiting messages and ends. Afterwards only statistics() may be called.
  virtual void end() = 0;
};

traffic traffic_of(const traffic& t) { return t; }
traffic traffic_of(const hope::counts& c) {
  return {.given = c.given,
          .requests = c.requests,
          .named = c.named,
          .omitted = c.omitted,
          .cut = c.cut,
          .computed = c.computed,
          .published = c.published,
          .helped = c.helped,
          .taken_over = c.taken_over,
          .yielded = c.yielded,
          .notes = c.notes,
          .sent_bytes = c.sent_bytes,
          .forwarded = c.forwarded,
          .withheld = c.withheld,
          .deleted = c.deleted,
          .reports = c.reports,
          .bundles = c.bundles,
          .questions = c.questions,
          .answers = c.answers,
          .refusals = c.refusals};
}

template <class Node> class node_of_kind final : public any_node {
 public:
  template <class Options>
  node_of_kind(std::unique_ptr<transport> by, Options chosen)
      : node_(default_runtime(), std::move(by), std::move(chosen)) {}
  void run(sukima::detail::cluster_entry& called) override { node_.run(called); }
  traffic statistics() const override { return traffic_of(node_.statistics()); }
  void end() override { node_.end(); }

 private:
  Node node_;
};

/// \throws start_failure the node cannot start
any_node* new_node(const own_place& at) {
  if (at.mpi && is_hope_wanted())
    throw start_failure(std::string(variable_hope) + "=" + variable(variable_hope) +
                        " needs the transport tcp: under an MPI the loss of one node ends all of them");
  if (at.tcp && at.tcp->survives_losses) {
    hope::node_options chosen{
        .seed = at.node() + 1, .joins = at.tcp->sponsor.has_value(), .on_failure = end_process};
    return new node_of_kind<hope::node>(own_transport(at), std::move(chosen));
  }
  node_options options;
  options.joins = at.tcp && at.tcp->sponsor;
  options.on_failure = end_process;
  options.on_own_leaving = [](const traffic& counted) {
    send_report(report_of(counted));
    end_process_that_left();
  };
  return new node_of_kind<node>(own_transport(at), std::move(options));
}

class own_node;
/// The node of own_node_of_process(). That function stores it here; ~own_node removes it.
/// pairs with: own_node_of_process, ~own_node, statistics
std::atomic<const own_node*> known{nullptr};

/// The node of this process, until the process ends.
class own_node {
 public:
  own_node() {
    check_start();
    const own_place& at = where_started();
    if (!at.tcp && !at.mpi) return;
    try {
      send_report({node_report::type::meets});
      node_ = new_node(at);
      send_report({node_report::type::met});
    } catch (const start_failure& failure) {
      end_process({"node " + std::to_string(at.node()) + ": " + failure.what(), status_usage, failure.lost});
    }
  }
  /// In a child after fork() there is no cluster thread and no node.
  ~own_node() {
    // A function of atexit may call statistics() later. pairs with: statistics
    known.store(nullptr, std::memory_order_release);
    if (getpid() != process_ || node_ == nullptr) return;
    node_->end();  // first, so that the last messages are counted, such as the result of the last entry
    send_report(report_of(node_->statistics()));
    delete node_;
  }
  own_node(const own_node&) = delete;
  own_node& operator=(const own_node&) = delete;

  /// Returns null if the process runs alone.
  any_node* get() const noexcept { return getpid() == process_ ? node_ : nullptr; }

 private:
  const pid_t process_ = getpid();
  any_node* node_ = nullptr;
};

/// Returns the node, which the first call makes. \returns null: the process runs alone
any_node* own_node_of_process() {
  static own_node mine;
  known.store(&mine, std::memory_order_release);  // after it was made; pairs with: statistics
  return mine.get();
}

/// Allows one entry at a time. Entries have the same numbers on all nodes, and concurrent entries would have
/// no order. In a process that runs alone, an entry would drop the best solutions of another one.
class only_entry {
 public:
  only_entry() {
    const pid_t here = getpid();  // a child after fork() is not in the entry of its parent
    // Acquire, as of a lock: this entry continues with the node that the previous one has left.
    if (active_in.exchange(here, std::memory_order_acquire) == here)
      throw usage_error("sukima: two threads run entries at the same time; run one after the other");
  }
  ~only_entry() { active_in.store(0, std::memory_order_release); }
  only_entry(const only_entry&) = delete;
  only_entry& operator=(const only_entry&) = delete;

 private:
  /// The process that is in an entry; 0: none. pairs with: only_entry, ~only_entry
  static inline std::atomic<pid_t> active_in{0};
};

}  // namespace

void check_start() {
  const own_place& at = where_started();
  if (!at.unjoined.empty()) end_process({at.unjoined, status_usage});
}

traffic statistics() {
  const own_node* const mine = known.load(std::memory_order_acquire);  // pairs with: own_node_of_process
  const any_node* const n = mine != nullptr ? mine->get() : nullptr;
  return n != nullptr ? n->statistics() : traffic{};
}

std::uint32_t nodes() { return where_started().nodes(); }

bool shares_entries() {
  const own_place& at = where_started();
  return (at.tcp ? at.tcp->own.nodes : at.nodes()) > 1;
}

std::uint32_t this_node() { return where_started().node(); }

}  // namespace cluster

namespace detail {

void run_cluster_entry(cluster_entry& entry) {
  const auto run_alone = [&] { sukima::run([&](context c) { entry.run(entry, c); }); };
  if (is_inside()) {
    run_alone();
    return;
  }
  cluster::any_node* const node = cluster::own_node_of_process();
  const cluster::only_entry here;
  if (node == nullptr) {
    own_solution_board().begin_entry(1);
    run_alone();
    return;
  }
  if (cluster::shares_entries()) forbid_reductions();
  const cluster::task_output printing;
  node->run(entry);
}

}  // namespace detail
}  // namespace sukima
