// SPDX-License-Identifier: Apache-2.0
// The rules of programs that run on several nodes: the requirements for an entry's call and its tasks to
// travel.
#include "check/check.hpp"

#include "check/rules.hpp"

namespace sukima::language {
namespace {

using namespace clang;

class cluster_checker : rules {
 public:
  cluster_checker(CompilerInstance& compiler, const unit& u, const semantic_index& index)
      : rules(compiler, u, index) {}

  void run() {
    for (const auto& [keyword, function] : in_order(index_.cluster_entries)) check_entry(*function);
    if (unit_.cluster_keywords.empty()) return;
    for (const construct& c : unit_.constructs) {
      const auto travel = index_.travels.find(c.task);
      if (c.task.empty() || travel == index_.travels.end()) continue;
      if (!travel->second.stays.empty())
        check_staying(c, travel->second);
      else
        check_members_left_behind(c, travel->second);
    }
  }

 private:
  void check_entry(const FunctionDecl& f) const {
    const std::string name = f.getNameAsString();
    if (f.isVariadic())
      error(f.getLocation(),
            "'cluster worker' function '" + name +
                "' is variadic, so plain C cannot call it; write a function with fixed parameters");
    for (const ParmVarDecl* parameter : f.parameters()) {
      const std::string own = parameter->getNameAsString();
      const std::string reason = why_it_stays(ast_, parameter->getType(), own.empty() ? "a parameter" : own);
      if (reason.empty()) continue;
      const SourceLocation place = parameter->getLocation();
      error(place.isValid() ? place : f.getLocation(),
            "a parameter of the 'cluster worker' function '" + name + "' cannot travel: " + reason +
                "; pass values, or let the function build what it needs");
    }
    const std::string reason = why_it_stays(ast_, f.getReturnType(), "the result");
    if (!f.getReturnType()->isVoidType() && !reason.empty())
      error(f.getLocation(), "the result of the 'cluster worker' function '" + name +
                                 "' cannot travel to the other nodes: " + reason + "; return a value");
  }

  void check_staying(const construct& c, const task_travel& travel) {
    if (!reported_.insert(c.task).second) return;
    warning(c.task_location, "-Wcluster", "task '" + c.task + "' stays in its node: " + travel.stays);
  }

  /// Warns of members without `in` and `out` that PUT or GET uses, because they are zero on another node.
  void check_members_left_behind(const construct& c, const task_travel& travel) const {
    for (const auto& [name, t] : members_named_in(c.put))
      if (travel.left_behind.contains(name))
        warning(location_of(t), "-Wcluster",
                "PUT sets '" + name + "' of task '" + c.task + "', which does not travel; declare it 'in'");
    for (const auto& [name, t] : members_named_in(c.get))
      if (travel.left_behind.contains(name))
        warning(
            location_of(t), "-Wcluster",
            "GET uses '" + name + "' of task '" + c.task + "', which does not come back; declare it 'out'");
  }

  /// Returns the members that a block names after `this.`, each with its first such token.
  std::map<std::string, token_index> members_named_in(token_range block) const {
    std::map<std::string, token_index> names;
    for (token_index t = block.begin; t + 2 < block.end; ++t) {
      const auto name = index_.names.find(t);
      if (unit_.roles[t] == token_role::parsed_only || name == index_.names.end() ||
          name->second->getName() != "this")
        continue;
      if (unit_.tokens[t + 1].is(tok::period) && unit_.tokens[t + 2].is(tok::identifier))
        names.emplace(unit_.tokens[t + 2].getIdentifierInfo()->getName().str(), t + 2);
    }
    return names;
  }

  std::set<std::string> reported_;  ///< tasks for which the warning has been given
};

}  // namespace

void check_cluster(CompilerInstance& compiler, const unit& u, const semantic_index& index) {
  cluster_checker(compiler, u, index).run();
}

}  // namespace sukima::language
