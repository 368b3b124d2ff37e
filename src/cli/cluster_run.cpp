// SPDX-License-Identifier: Apache-2.0
// A run of several nodes as JSON and as text; see shared/cluster_run.hpp.
#include "shared/cluster_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include <base/shared/errors.hpp>
#include <base/shared/json_place.hpp>
#include <base/shared/parse_json.hpp>

namespace sukima::cli {
namespace {

/// The first member of the object, so that the beginning of a file shows its kind.
constexpr std::string_view kind_member = "kind";
constexpr std::string_view kind_value = "sukima cluster run";
/// The member may be indented and follow other characters, such as a brace.
constexpr std::size_t longest_beginning = 128;

/// The text of a run is damaged; names the place in it.
struct damaged_run : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class place : public json_place<place, damaged_run> {
 public:
  place(const json& value, std::string where, const char* root) : json_place(value, std::move(where), root) {}
};

std::uint64_t count_of(const cluster_node& node, const char* name) {
  const auto found = node.counts.find(name);
  return found == node.counts.end() ? 0 : found->second;
}

/// Kinds of messages that have their own counts.
constexpr const char* counted_kinds[] = {"bundles", "requests", "refusals",  "questions",
                                         "answers", "given",    "lifelines", "aborts"};

/// The number of messages of the other kinds.
std::uint64_t other_messages(const cluster_node& node) {
  std::uint64_t counted = 0;
  for (const char* const kind : counted_kinds) counted += count_of(node, kind);
  const std::uint64_t all = count_of(node, "notes");
  return all > counted ? all - counted : 0;
}

/// A row of the table.
struct row {
  const char* label;
  const char* count;  ///< null: the result of other_messages()
  bool is_always_shown = false;
};
constexpr row rows[] = {{"messages sent", "notes", true},
                        {"  reports by way of mediators", "bundles"},
                        {"  requests for a task", "requests"},
                        {"  refusals of these", "refusals"},
                        {"  tasks given away", "given"},
                        {"  answers with a result", "answers"},
                        {"  questions for a result", "questions"},
                        {"  lifelines", "lifelines"},
                        {"  aborts", "aborts"},
                        {"  others", nullptr},
                        {"bytes of these", "sent_bytes", true},
                        {"reports to all made", "reports"},
                        {"  forwarded for others", "forwarded"},
                        {"  withheld from a node", "withheld"},
                        {"  deleted", "deleted"},
                        {"tasks received", "received"},
                        {"tasks named", "named"},
                        {"  computed", "computed"},
                        {"  published", "published"},
                        {"  omitted", "omitted"},
                        {"  cut while they ran", "cut"},
                        {"  begun beside another node", "helped"},
                        {"  left to another node", "yielded"},
                        {"  taken over from lost nodes", "taken_over"}};

std::uint64_t value_of(const cluster_node& node, const row& r) {
  return r.count != nullptr ? count_of(node, r.count) : other_messages(node);
}

struct summary {
  std::uint64_t all = 0;
  std::uint64_t most = 0;
  std::size_t where = 0;  ///< the node with the largest count
};
summary summary_of(const cluster_run& run, const row& r) {
  summary s;
  for (std::size_t n = 0; n < run.nodes.size(); ++n) {
    const std::uint64_t value = value_of(run.nodes[n], r);
    s.all += value;
    if (value <= s.most) continue;
    s.most = value;
    s.where = n;
  }
  return s;
}
std::uint64_t total_of(const cluster_run& run, const char* count) { return summary_of(run, {"", count}).all; }

std::size_t reporting_nodes(const cluster_run& run) {
  return static_cast<std::size_t>(
      std::ranges::count_if(run.nodes, [](const cluster_node& n) { return !n.counts.empty(); }));
}

/// Returns "node 2", or "nodes 1, 2 and 5" with at most eight of the numbers.
std::string names_of(const std::vector<std::size_t>& nodes) {
  constexpr std::size_t most = 8;
  std::string text = nodes.size() == 1 ? "node " : "nodes ";
  for (std::size_t i = 0; i < std::min(nodes.size(), most); ++i) {
    const bool is_last = i + 1 == nodes.size();
    text += fmt::format("{}{}", i == 0 ? "" : is_last ? " and " : ", ", nodes[i]);
  }
  if (nodes.size() > most) text += fmt::format(" and {} more", nodes.size() - most);
  return text;
}

std::string end_text(const cluster_node& node) {
  if (node.signal != 0) return fmt::format("was ended by signal {}", node.signal);
  return fmt::format("ended with status {}", node.exit_code);
}

/// Returns a line for each kind of failed end, with its nodes.
std::string ends_text(const cluster_run& run) {
  std::map<std::string, std::vector<std::size_t>> nodes_by_end;
  for (std::size_t n = 0; n < run.nodes.size(); ++n)
    if (run.nodes[n].signal != 0 || run.nodes[n].exit_code != 0)
      nodes_by_end[end_text(run.nodes[n])].push_back(n);
  std::string text;
  for (const auto& [end, nodes] : nodes_by_end) {
    std::string plural = end;
    if (nodes.size() > 1 && plural.starts_with("was ")) plural.replace(0, 3, "were");
    text += fmt::format("  {} {}\n", names_of(nodes), plural);
  }
  return text;
}

/// The number of messages if each report were sent to each other node directly, plus the other messages.
/// Nothing: no report was sent through mediators.
std::optional<std::uint64_t> messages_without_mediators(const cluster_run& run) {
  const std::uint64_t bundles = total_of(run, "bundles");
  if (bundles == 0) return std::nullopt;
  const std::uint64_t notes = total_of(run, "notes");
  return total_of(run, "reports") * (run.nodes.size() - 1) + notes - std::min(notes, bundles);
}

}  // namespace

nlohmann::ordered_json json_of(const cluster_run& run) {
  nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
  for (std::size_t n = 0; n < run.nodes.size(); ++n) {
    const cluster_node& node = run.nodes[n];
    nodes.push_back({{"node", n}, {"exit_code", node.exit_code}, {"signal", node.signal}});
    if (!node.host.empty()) nodes.back()["host"] = node.host;
    if (!node.counts.empty()) nodes.back()["counts"] = node.counts;
  }
  return {{kind_member, kind_value}, {"seconds", run.seconds}, {"hope", run.hope}, {"nodes", nodes}};
}

bool is_cluster_run(std::string_view text) {
  return text.substr(0, longest_beginning).find('"' + std::string(kind_value) + '"') !=
         std::string_view::npos;
}

namespace {

constexpr double most_count = 9007199254740992;  // 2^53: a double represents each smaller integer exactly

/// Refuses counts whose sums, or the number of messages without mediators, could not be computed.
/// \throws damaged_run
void expect_small_sums(const cluster_run& run, const place& nodes) {
  std::map<std::string, double> sums;  // a double cannot wrap around
  for (const cluster_node& node : run.nodes)
    for (const auto& [count, value] : node.counts)
      if ((sums[count] += static_cast<double>(value)) > most_count)
        nodes.fail("has counts '" + count + "' that add up to more than 2^53");
  if (sums["reports"] * static_cast<double>(run.nodes.size()) > most_count)
    nodes.fail("has counts 'reports' that make more than 2^53 messages to all nodes");
}

/// \throws damaged_run
cluster_run run_in(std::string_view text) {
  constexpr double most_seconds = 1e9;
  const nlohmann::json document = parse_json<damaged_run>(text, "the run");
  const place whole(document, "", "the run");
  cluster_run run;
  run.seconds = whole.member("seconds").number(0, most_seconds);
  run.hope = whole.member("hope").flag();
  whole.member("nodes").each([&](const place& one) {
    cluster_node node;
    node.exit_code = static_cast<int>(one.member("exit_code").whole(0, 255));
    node.signal = static_cast<int>(one.member("signal").whole(0, 255));
    if (one.has("host")) node.host = one.member("host").name();
    if (one.has("counts")) {
      const place counts = one.member("counts");
      counts.expect_object();
      for (const auto& [count, unused] : counts.value().items())
        node.counts[count] = counts.member(count.c_str()).whole(0, most_count);
    }
    run.nodes.push_back(std::move(node));
  });
  if (run.nodes.empty()) whole.member("nodes").fail("is empty, but a run has a node");
  expect_small_sums(run, whole.member("nodes"));
  return run;
}

}  // namespace

cluster_run read_cluster_run(std::string_view text, const std::string& name) {
  try {
    return run_in(text);
  } catch (const damaged_run& damage) {
    throw process::usage_error(
        fmt::format("'{}': {}; write the file again with sukima cluster run --json", name, damage.what()));
  }
}

std::string text_of(const cluster_run& run) {
  const std::size_t nodes = run.nodes.size();
  const std::size_t reporting = reporting_nodes(run);
  std::string text = fmt::format("{} node{} ran for {:.2f} s{}\n", nodes, nodes == 1 ? "" : "s", run.seconds,
                                 run.hope ? ", with --hope" : "");
  text += ends_text(run);
  std::vector<std::size_t> silent;
  for (std::size_t n = 0; n < nodes; ++n)
    if (run.nodes[n].counts.empty()) silent.push_back(n);
  if (!silent.empty())
    text +=
        fmt::format("  no counts of {}: killed, or ended without an entry or by _exit\n", names_of(silent));
  if (reporting == 0) return text;
  text += fmt::format("{:<32}{:>14}{:>14}{:>14}\n", "", "all nodes", "of one, mean", "at most");
  for (const row& r : rows) {
    const summary s = summary_of(run, r);
    if (s.all == 0 && !r.is_always_shown) continue;
    const std::string most = s.most == 0 ? "" : fmt::format("  node {}", s.where);
    text += fmt::format("{:<32}{:>14}{:>14.1f}{:>14}{}\n", fmt::format("  {}", r.label), s.all,
                        static_cast<double>(s.all) / static_cast<double>(reporting), s.most, most);
  }
  if (const auto without = messages_without_mediators(run); without && *without != 0)
    text += fmt::format("  without mediators it would be {} messages: the sent ones are {:.0f} % of these\n",
                        *without,
                        100 * static_cast<double>(total_of(run, "notes")) / static_cast<double>(*without));
  return text;
}

nlohmann::ordered_json totals_of(const cluster_run& run) {
  nlohmann::ordered_json totals = nlohmann::ordered_json::object();
  for (const row& r : rows) totals[r.count != nullptr ? r.count : "other_messages"] = summary_of(run, r).all;
  if (const auto without = messages_without_mediators(run)) totals["messages_without_mediators"] = *without;
  return totals;
}

std::vector<std::string> advice_on(const cluster_run& run) {
  // Below these values the figures depend on chance or on a few milliseconds.
  constexpr double shortest_run = 0.1;
  constexpr double much_repeated = 0.1;
  constexpr double mostly_refused = 0.9;
  constexpr double many_requests = 50;  // of each node per second
  constexpr double large_message = 65536;
  std::vector<std::string> advice;
  if (reporting_nodes(run) == 0)
    return {
        "No node has reported counts: let the program make an entry (sukima::cluster::run) and end by main "
        "or exit."};
  if (run.seconds < shortest_run) return {"The run was too short for advice: look at a longer one."};
  if (run.nodes.size() == 1) return {"One node alone: nothing to try."};
  const auto total = [&](const char* count) { return static_cast<double>(total_of(run, count)); };
  const double messages = total("notes"), requests = total("requests"), computed = total("computed");
  const auto nodes = static_cast<double>(run.nodes.size());
  if (!run.hope && total("given") == 0)
    advice.emplace_back(
        "No task has left its node: fork with sukima::call, or search with callables without captures, where "
        "the time goes (docs/cluster.md: a task travels).");
  if (requests > many_requests * nodes * run.seconds && total("refusals") > mostly_refused * requests)
    advice.push_back(
        fmt::format("{:.0f} % of the requests for a task were refused: there is too little work for so many "
                    "nodes. Use fewer "
                    "nodes, or let the program fork where it computes for long.",
                    100 * total("refusals") / requests));
  if (const double repeated = total("cut") + total("helped") + total("yielded");
      computed > 0 && repeated > much_repeated * computed)
    advice.push_back(
        fmt::format("{:.0f} tasks were begun on two nodes, beside {:.0f} that were computed: make entries "
                    "longer, or start "
                    "no more workers than there are CPUs.",
                    repeated, computed));
  if (messages > 0 && total("sent_bytes") > large_message * messages)
    advice.push_back(fmt::format(
        "A message has {:.0f} KiB on average: return less from the tasks that travel, or make each "
        "compute for longer.",
        total("sent_bytes") / messages / 1024));
  if (advice.empty()) advice.emplace_back("Nothing: the messages show no loss.");
  return advice;
}

}  // namespace sukima::cli
