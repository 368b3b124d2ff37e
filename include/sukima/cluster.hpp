// SPDX-License-Identifier: Apache-2.0
// Entries: calls that several nodes of a cluster compute together. Link sukima::cluster, and start the
// program with `sukima cluster run -n 4 -- PROGRAM`.
#pragma once

#include <sukima/cluster/best_solution.hpp>
#include <sukima/cluster/call.hpp>
#include <sukima/cluster/exception.hpp>
#include <sukima/cluster/loops.hpp>
#include <sukima/detail/containers.hpp>
#include <sukima/fork.hpp>
#include <sukima/runtime.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <typeinfo>

namespace sukima::detail {

/// An entry on one node.
struct cluster_entry {
  void (*run)(cluster_entry&, context) = nullptr;  ///< calls the function and keeps its result
  void (*put)(cluster_entry&, std::vector<std::byte>&) = nullptr;  ///< appends the result in bytes
  void (*get)(cluster_entry&, std::span<const std::byte>) = nullptr;  ///< takes the result from node 0
  const char* call = nullptr;  ///< what it calls: the mangled type of the call, or a name of the language
  const char* result_type = nullptr;  ///< mangled; null in the language
};

template <class Call> struct cluster_entry_of : cluster_entry {
  using result = result_of<Call&&>;
  Call function;
  result_slot<stored<result>> value;
  explicit cluster_entry_of(Call&& called) : function(std::move(called)) {
    call = typeid(Call).name();
    result_type = typeid(result).name();
    run = [](cluster_entry& self, context c) {
      auto& me = static_cast<cluster_entry_of&>(self);
      me.value.fill([&]() -> decltype(auto) { return detail::call_plainly(c, std::move(me.function)); });
    };
    put = [](cluster_entry& self, std::vector<std::byte>& to) {
      detail::put_result<result>(static_cast<cluster_entry_of&>(self).value.get(), to);
    };
    get = [](cluster_entry& self, std::span<const std::byte> from) {
      static_cast<cluster_entry_of&>(self).value.fill([&] { return get_result<result>(from); });
    };
  }
  result take() {
    if constexpr (!std::is_void_v<result>) return std::move(value.get());
  }
};

/// Runs an entry on this process's node; without a node it calls the function here.
/// \throws what sukima::cluster::run throws
SUKIMA_EXCHANGES_CONTAINERS void run_cluster_entry(cluster_entry& entry);

}  // namespace sukima::detail

namespace sukima::cluster {
/// \addtogroup cluster
/// @{

/// Calls a function with the help of all nodes: an *entry*. Every node runs main and makes this call. Node 0
/// runs the function, with its own arguments, and the others request tasks from it and from each other. All
/// nodes get the same result. Outside `sukima cluster`, and inside a running entry, this process alone runs
/// the function.
///
///     long n = sukima::cluster::run(sukima::call<fib>(50));
///
/// Tasks *travel* (run on another node) if they are split off from a fork with `sukima::call` as its second
/// branch, from a parallel_reduce with such a call as its body, or from a search whose callables have no
/// captures. Values that a task writes into globals stay on its node.
/// \param function  the same call on each node; its arguments and its result must be able to travel
///                  (sukima::can_travel)
/// \returns the result of the function, the same on all nodes
/// \throws what the function throws. An exception from another node arrives with its type if SUKIMA_EXCEPTION
///         names that, otherwise as remote_exception. usage_error if another thread is in an entry
///
/// Each node ends with status 2 and one sentence if the nodes cannot connect (another program at one of them,
/// another token), if they call different functions in one entry, or if srun or a PMIx launcher has started
/// processes that no MPI joins. If a node is lost later, the others end with status 75.
///
/// Under `sukima cluster run --hope` every node runs the function, and omits tasks whose results others have
/// sent. Then the others continue without a node that is lost or does not arrive, and exceptions arrive as
/// they were thrown (docs/hope.md).
/// \par Complexity one message to each node at the end, and a few for each task that travels. Sources:
///      requests and lifelines as in X10 (docs/cluster.md), hierarchical omission as in HOPE (docs/hope.md)
template <class Call>
  requires detail::call_can_travel<Call>
auto run(Call function) {
  detail::cluster_entry_of<Call> entry(std::move(function));
  detail::run_cluster_entry(entry);
  return entry.take();
}

/// Returns the number of nodes with which this program was started; 1 if it runs alone.
std::uint32_t nodes();
/// Returns the number of this node, from 0. A node that joined later has a number of nodes() or more.
std::uint32_t this_node();

/// The counts of tasks and messages of one node so far. If nodes steal, the counts of named tasks and of
/// reports are 0; under `--hope`, `received`, `lifelines` and `aborts` are 0.
struct traffic {
  std::uint64_t given = 0;  ///< tasks that it gave to other nodes
  std::uint64_t received = 0;  ///< tasks that it took from them
  std::uint64_t requests = 0;  ///< requests for tasks that it sent
  std::uint64_t lifelines = 0;  ///< lifelines that it registered, because no request brought a task
  std::uint64_t aborts = 0;  ///< messages about aborts that it sent
  std::uint64_t named = 0;  ///< tasks that were split off and have a name that all nodes agree on
  std::uint64_t omitted = 0;  ///< named tasks that did not run here, because another node's result came first
  std::uint64_t cut = 0;  ///< named tasks that such a result ended while they ran here: partly run twice
  std::uint64_t computed = 0;  ///< named tasks that gave their result here
  std::uint64_t published = 0;  ///< named tasks whose result it sent to other nodes
  std::uint64_t helped = 0;  ///< named tasks begun although another node had announced that it runs them
  std::uint64_t taken_over = 0;  ///< named tasks begun after the node that ran them was lost
  /// Named tasks that it left to another node that had begun them, too, and has a lower number or began
  /// earlier.
  std::uint64_t yielded = 0;
  std::uint64_t notes = 0;  ///< messages that it sent
  std::uint64_t sent_bytes = 0;  ///< bytes of these messages
  /// Reports of other nodes that it forwarded as a mediator. There are mediators among more than eight nodes.
  std::uint64_t forwarded = 0;
  /// Reports that it did not forward to a node of its group, because that node needs others.
  std::uint64_t withheld = 0;
  std::uint64_t deleted = 0;  ///< reports that it did not forward, because no node needs them
  /// Reports that it made for all other nodes. Without mediators each would be a message to each of them.
  std::uint64_t reports = 0;
  std::uint64_t bundles = 0;  ///< of `notes`, those that carry reports by way of mediators
  std::uint64_t questions = 0;  ///< of `notes`, those that ask for a missing result
  std::uint64_t answers = 0;  ///< of `notes`, those that bring a result to a node that lacks it
  std::uint64_t refusals = 0;  ///< of `notes`, those that refuse a request for a task
};
/// Returns the counts of this node. All are 0 if the program runs alone, and before its first entry. Any
/// thread.
traffic statistics();

/// @}
}  // namespace sukima::cluster
