// SPDX-License-Identifier: Apache-2.0
// Reading experiments; see experiment.hpp.
#include <algorithm>
#include <set>

#include "experiment/json_place.hpp"

namespace sukima::lab {
namespace {

constexpr const char* root_name = "the experiment";
constexpr double most_size = 1e15, most_repetitions = 1000, most_seconds = 3600, most_copies = 64,
                 most_cpus = 65536;

std::int64_t read_size(const place& from) { return static_cast<std::int64_t>(from.whole(0, most_size)); }

unsigned read_cpus(const place& from) { return static_cast<unsigned>(from.whole(1, most_cpus)); }

program read_program(const place& from) {
  from.expect_members(
      {"name", "benchmark", "system", "size", "quick_size", "command", "seconds", "quick_seconds", "quick"});
  program result;
  result.name = from.member("name").name();
  if (from.has("benchmark") == from.has("command")) from.fail("give either 'benchmark' or 'command'");
  if (from.has("benchmark")) result.benchmark = from.member("benchmark").name();
  for (const char* one : {"system", "size", "quick_size"})
    if (from.has(one) && from.has("command")) from.member(one).fail("is for a benchmark only");
  if (from.has("system")) result.system = from.member("system").name();
  if (from.has("size")) result.size = read_size(from.member("size"));
  if (from.has("quick_size")) result.quick_size = read_size(from.member("quick_size"));
  if (from.has("command")) {
    from.member("command").each([&](const place& word) { result.command.push_back(word.text()); });
    if (result.command.empty()) from.member("command").fail("must not be empty");
  }
  if (from.has("seconds")) result.seconds = from.member("seconds").number(0, most_seconds);
  if (from.has("quick_seconds")) result.quick_seconds = from.member("quick_seconds").number(0, most_seconds);
  if (from.has("quick")) result.quick = from.member("quick").flag();
  return result;
}

setting read_setting(const place& from) {
  from.expect_members({"name", "variables", "workers_per_cpu", "cpus", "through", "arguments", "unit",
                       "least_cpus", "quick"});
  setting result;
  result.name = from.member("name").name();
  if (from.has("variables")) {
    const place variables = from.member("variables");
    variables.expect_printable_names();
    if (variables.value().size() > most_entries) variables.fail("has too many entries");
    for (const auto& [name, unused] : variables.value().items()) {
      const bool is_name = !name.empty() && std::ranges::all_of(name, [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
      });
      if (!is_name) variables.fail("a variable's name has letters, digits and _ only");
      result.variables.emplace_back(name, variables.member(name.c_str()).text());
    }
  }
  if (from.has("unit")) result.unit = from.member("unit").text();
  if (from.has("workers_per_cpu")) result.workers_per_cpu = from.member("workers_per_cpu").number(0.01, 64);
  if (from.has("cpus")) {
    const std::string cpus = from.member("cpus").text();
    if (cpus != "seen" && cpus != "left") from.member("cpus").fail("must be 'seen' or 'left'");
    result.cpus_left = cpus == "left";
  }
  if (from.has("through")) {
    from.member("through").each([&](const place& word) { result.through.push_back(word.text()); });
    if (result.through.empty()) from.member("through").fail("must not be empty");
  }
  if (from.has("arguments")) {
    from.member("arguments").each([&](const place& word) { result.arguments.push_back(word.text()); });
    if (result.arguments.empty()) from.member("arguments").fail("must not be empty");
  }
  if (from.has("least_cpus")) result.least_cpus = read_cpus(from.member("least_cpus"));
  if (from.has("quick")) result.quick = from.member("quick").flag();
  return result;
}

environment_kind read_kind(const place& from) {
  const std::string text = from.text();
  for (const environment_kind one : {environment_kind::machine, environment_kind::cap,
                                     environment_kind::fewer, environment_kind::share, environment_kind::vms})
    if (text == name_of(one)) return one;
  from.fail("must be 'machine', 'cap', 'fewer', 'share' or 'vms'");
}

environment read_environment(const place& from) {
  from.expect_members({"name", "kind", "part", "period_ms", "copies", "weights", "vcpus", "memory_mib",
                       "baseline", "least_cpus", "quick"});
  environment result;
  result.name = from.member("name").name();
  result.kind = read_kind(from.member("kind"));
  using enum environment_kind;
  const auto only_for = [&](const char* name, std::initializer_list<environment_kind> kinds) {
    if (!from.has(name)) return false;
    if (std::ranges::find(kinds, result.kind) == kinds.end())
      from.member(name).fail(std::string("is not for the kind '") + name_of(result.kind) + "'");
    return true;
  };
  if (only_for("part", {cap, fewer}))
    result.part = from.member("part").number(0.01, 1);
  else if (result.kind == cap || result.kind == fewer)
    from.fail("the member 'part' is missing");
  if (only_for("period_ms", {cap})) {
    result.period_ms = static_cast<unsigned>(from.member("period_ms").whole(1, 1000));
    // The limits of the kernel.
    if (result.part * result.period_ms < 1)
      from.member("period_ms").fail("must leave a quota of 1 ms or more");
  }
  if (only_for("copies", {share, vms}))
    result.copies = static_cast<unsigned>(from.member("copies").whole(1, most_copies));
  if (only_for("weights", {share})) {
    from.member("weights").each(
        [&](const place& one) { result.weights.push_back(static_cast<int>(one.whole(1, 100))); });
    if (result.weights.size() != result.copies) from.member("weights").fail("must have one for each copy");
  }
  if (only_for("vcpus", {vms}))
    result.vcpus = static_cast<unsigned>(from.member("vcpus").whole(1, most_copies));
  if (only_for("memory_mib", {vms}))
    result.memory_mib = static_cast<unsigned>(from.member("memory_mib").whole(96, 65536));
  if (from.has("baseline")) result.baseline = from.member("baseline").name();
  if (from.has("least_cpus")) result.least_cpus = read_cpus(from.member("least_cpus"));
  if (from.has("quick")) result.quick = from.member("quick").flag();
  return result;
}

/// Reads an array of things with different names.
template <class Thing, class Read>
std::vector<Thing> read_named(const place& from, Read read) {
  std::vector<Thing> all;
  std::set<std::string> seen;
  from.each([&](const place& one) {
    all.push_back(read(one));
    if (!seen.insert(all.back().name).second) one.fail("there are two of the name '" + all.back().name + "'");
  });
  return all;
}

/// Reads the name of one of `all`.
template <class Thing>
std::string read_reference(const place& from, const std::vector<Thing>& all, const char* kind) {
  const std::string text = from.text();
  if (std::ranges::find(all, text, &Thing::name) == all.end())
    from.fail(std::string("there is no ") + kind + " '" + text + "'");
  return text;
}

template <class Thing>
std::vector<std::string> read_references(const place& from, const std::vector<Thing>& all, const char* kind) {
  std::vector<std::string> names;
  from.each([&](const place& one) { names.push_back(read_reference(one, all, kind)); });
  if (names.empty()) from.fail("must not be empty");
  return names;
}

/// The same for the parts of cells, without repetitions, which would count twice.
template <class Thing>
std::vector<std::string> read_different(const place& from, const std::vector<Thing>& all, const char* kind) {
  std::set<std::string> seen;
  from.each([&](const place& one) {
    const std::string name = read_reference(one, all, kind);
    if (!seen.insert(name).second) one.fail("'" + name + "' is given twice");
  });
  return read_references(from, all, kind);
}

measure read_measure(const place& from) {
  const std::string text = from.text();
  for (const measure one : {measure::time, measure::converted, measure::relative})
    if (text == name_of(one)) return one;
  from.fail("must be 'time', 'converted' or 'relative'");
}

taking read_taking(const place& from) {
  const std::string text = from.text();
  for (const taking one : {taking::best, taking::worst, taking::use})
    if (text == name_of(one)) return one;
  from.fail("must be 'best', 'worst' or 'use'");
}

/// The CPU use predicts one of several numbers of workers, of which the smallest comes first.
void check_counts(const place& from, const side& read, const experiment& whole) {
  const setting* last = nullptr;
  for (const std::string& name : read.settings) {
    const setting& one = *std::ranges::find(whole.settings, name, &setting::name);
    if (last != nullptr && (one.workers_per_cpu <= last->workers_per_cpu || one.cpus_left != last->cpus_left))
      from.member("settings").fail("'use' takes settings with growing 'workers_per_cpu' and the same 'cpus'");
    last = &one;
  }
}

side read_side(const place& from, const experiment& whole) {
  from.expect_members({"settings", "environment", "environments", "take"});
  side result;
  result.settings = read_references(from.member("settings"), whole.settings, "setting");
  if (from.has("environment"))
    result.environment = read_reference(from.member("environment"), whole.environments, "environment");
  if (from.has("environments"))
    result.environments = read_different(from.member("environments"), whole.environments, "environment");
  if (from.has("take")) {
    result.take = read_taking(from.member("take"));
    if (result.take == taking::use) check_counts(from, result, whole);
  }
  return result;
}

/// Whether the left side of a claim has runs in an environment.
bool measures_in(const claim& claim, const environment& where) {
  if (!claim.left.environment.empty()) return claim.left.environment == where.name;
  return std::ranges::find(claim.environments, where.name) != claim.environments.end();
}

/// Relative times need target times on both sides.
void check_targets(const place& from, const claim& read, const experiment& whole) {
  for (const environment& one : whole.environments) {
    const bool is_right =
        read.right && std::ranges::find(read.right->environments, one.name) != read.right->environments.end();
    if ((measures_in(read, one) || is_right) && one.baseline.empty())
      from.fail("the environment '" + one.name + "' has no 'baseline', so it has no target times");
  }
}

/// Checks that a setting predicted from the CPU use is on the left side, and that the lab measures the use.
void check_use(const place& from, const claim& read, const experiment& whole) {
  if (read.right && read.right->take == taking::use) from.member("right").fail("'use' is for the left side");
  if (read.left.take != taking::use) return;
  if (read.of == measure::relative) from.member("left").fail("'use' is not for the measure 'relative'");
  for (const environment& one : whole.environments) {
    if (measures_in(read, one) && one.kind == environment_kind::vms)
      from.member("left").fail("'use' is not for virtual machines, as '" + one.name +
                               "': the lab does not see which CPU time is the program's");
  }
}

/// Reads which environments of a claim count.
void read_judge(const place& from, claim& into) {
  const std::string text = from.text();
  if (text != "each" && text != "worst") from.fail("must be 'each' or 'worst'");
  into.worst = text == "worst";
  if (!into.worst) return;
  if (into.of != measure::relative || !into.left.environment.empty())
    from.fail("'worst' is for the measure 'relative', whose left side names no environment");
  if (into.left.settings.size() > 1 && into.left.take != taking::worst)
    from.fail("'worst' is for one setting, or for the worst of several");
}

/// The right side is another setting, or for worst relative times other environments.
void check_sides(const place& from, const claim& read) {
  if (!read.left.environments.empty())
    from.member("left").fail("'environments' is for the right side; the left one has the claim's");
  if (read.of != measure::relative) {
    if (!read.right) from.fail("'right' is missing, which the measures 'time' and 'converted' need");
    if (!read.right->environments.empty())
      from.member("right").fail("'environments' is for the measure 'relative' with \"judge\": \"worst\"");
    return;
  }
  if (!read.right) return;
  if (!read.worst || read.right->environments.empty())
    from.fail(
        "with the measure 'relative' there is a 'right' only if \"judge\" is \"worst\" and it has "
        "'environments'");
  if (read.right->settings.size() > 1 && read.right->take != taking::worst)
    from.member("right").fail("'worst' is for one setting, or for the worst of several");
}

claim read_claim(const place& from, const experiment& whole) {
  from.expect_members({"name", "text", "figure", "found", "measure", "left", "right", "programs",
                       "environments", "relation", "bound", "in", "judge", "least_cpus", "needs", "missing"});
  claim result;
  result.name = from.member("name").name();
  result.text = from.member("text").text();
  if (from.has("figure")) result.figure = from.member("figure").text();
  if (from.has("found")) result.found = from.member("found").text();
  if (from.has("missing")) {
    from.expect_members({"name", "text", "figure", "found", "missing"});
    result.missing = from.member("missing").text();
    return result;
  }
  if (from.has("measure")) result.of = read_measure(from.member("measure"));
  result.left = read_side(from.member("left"), whole);
  if (from.has("right")) result.right = read_side(from.member("right"), whole);
  result.programs = read_different(from.member("programs"), whole.programs, "program");
  result.environments = read_different(from.member("environments"), whole.environments, "environment");
  const std::string relation = from.member("relation").text();
  if (relation != "above" && relation != "below") from.member("relation").fail("must be 'above' or 'below'");
  result.above = relation == "above";
  if (from.has("bound")) result.bound = from.member("bound").number(0.001, 1000);
  if (from.has("in")) result.in = from.member("in").number(0.01, 1);
  if (from.has("judge")) read_judge(from.member("judge"), result);
  check_sides(from, result);
  if (from.has("least_cpus")) result.least_cpus = read_cpus(from.member("least_cpus"));
  if (from.has("needs")) {
    result.needs = from.member("needs").text();
    if (result.needs != "kvm") from.member("needs").fail("must be 'kvm'");
  }
  if (result.of == measure::relative) check_targets(from, result, whole);
  check_use(from, result, whole);
  return result;
}

void check_baselines(const place& environments, const experiment& whole) {
  std::size_t position = 0;
  environments.each([&](const place& one) {
    const environment& read = whole.environments[position++];
    if (read.baseline.empty()) return;
    const std::string name = read_reference(one.member("baseline"), whole.environments, "environment");
    const environment& alone = *std::ranges::find(whole.environments, name, &environment::name);
    if (alone.copies != 1 || alone.part != 1)
      one.member("baseline")
          .fail("'" + name + "' is not one copy with all CPUs, so it makes no target times");
  });
}

/// A virtual machine has the experiment's programs only, not those that start them.
void check_starters(const place& settings, const experiment& whole) {
  const bool machines = std::ranges::any_of(
      whole.environments, [](const environment& one) { return one.kind == environment_kind::vms; });
  settings.each([&](const place& one) {
    if (machines && one.has("through"))
      one.member("through").fail("is not for experiments with environments of the kind 'vms'");
  });
}

}  // namespace

experiment parse_experiment(std::string_view text) {
  const json document = parse_json<experiment_error>(text, root_name);
  const place root(document, "", root_name);
  root.expect_members({"sukima-lab", "name", "title", "source", "paper_cpus", "shown", "programs", "settings",
                       "environments", "repetitions", "quick_repetitions", "limit_seconds", "claims"});
  if (root.member("sukima-lab").value() != 1) root.member("sukima-lab").fail("only version 1 is known");
  experiment result;
  result.name = root.member("name").name();
  result.title = root.member("title").text();
  if (root.has("source")) result.source = root.member("source").text();
  if (root.has("paper_cpus")) result.paper_cpus = read_cpus(root.member("paper_cpus"));
  if (root.has("shown")) {
    result.shown = read_measure(root.member("shown"));
    if (result.shown == measure::relative) root.member("shown").fail("must be 'time' or 'converted'");
  }
  result.programs = read_named<program>(root.member("programs"), read_program);
  result.settings = read_named<setting>(root.member("settings"), read_setting);
  result.environments = read_named<environment>(root.member("environments"), read_environment);
  if (result.programs.empty()) root.member("programs").fail("there is no program");
  if (result.settings.empty()) root.member("settings").fail("there is no setting");
  if (result.environments.empty()) root.member("environments").fail("there is no environment");
  check_baselines(root.member("environments"), result);
  check_starters(root.member("settings"), result);
  const auto read_count = [&](const char* name, unsigned& into) {
    if (root.has(name)) into = static_cast<unsigned>(root.member(name).whole(1, most_repetitions));
  };
  read_count("repetitions", result.repetitions);
  read_count("quick_repetitions", result.quick_repetitions);
  if (root.has("limit_seconds"))
    result.limit_seconds = root.member("limit_seconds").number(0.1, most_seconds);
  if (root.has("claims"))
    result.claims =
        read_named<claim>(root.member("claims"), [&](const place& one) { return read_claim(one, result); });
  return result;
}

}  // namespace sukima::lab
