// SPDX-License-Identifier: Apache-2.0
// Names that would have another meaning in the generated C: an AFTER is printed at each jump out of its BODY,
// and a worker function has one more parameter. `poll()` would call the C library's function.
#include "check/check.hpp"

#include "check/rules.hpp"

namespace sukima::language {
namespace {

using namespace clang;

class hidden_name_checker : rules {
 public:
  hidden_name_checker(CompilerInstance& compiler, const unit& u, const semantic_index& index)
      : rules(compiler, u, index) {
    for (const auto& [variable, at] : index.declared) declared_.emplace(at, variable);
  }

  void run() const {
    for (const construct& c : unit_.constructs)
      if (c.kind == construct_kind::wind && !c.after.empty()) check_after(c);
    for (const FunctionDecl* f : index_.workers)
      for (const FunctionDecl* one : f->redecls())
        for (const Attr* attribute : one->attrs()) check_attribute(*one, *attribute);
    for (const auto& [open, call] : in_order(index_.all_calls)) check_poll(*call);
  }

 private:
  /// Returns the names declared outside that AFTER uses: variables, functions, constants of file scope. The
  /// planner renames local constants and types.
  std::map<std::string, const NamedDecl*> named_in_after(const construct& c) const {
    std::map<std::string, const NamedDecl*> used;
    for (token_index t = c.after.begin; t < c.after.end; ++t) {
      const auto name = index_.names.find(t);
      if (name == index_.names.end()) continue;
      const NamedDecl* const of = name->second;
      const bool is_moved =
          isa<EnumConstantDecl, TypedefNameDecl>(of) && of->getParentFunctionOrMethod() != nullptr;
      if (isa<FunctionDecl, EnumConstantDecl, TypedefNameDecl>(of) && !is_moved)
        used[of->getNameAsString()] = of;
      const auto* variable = dyn_cast<VarDecl>(of);
      if (variable == nullptr) continue;
      const auto declared = index_.declared.find(variable);
      if (declared == index_.declared.end() || !c.after.holds(declared->second))
        used[variable->getNameAsString()] = variable;
    }
    return used;
  }

  /// Returns the end of the scope of a variable that is declared at `at`.
  token_index end_of_scope(token_index at) const {
    const token_index open = unit_.opened[at];
    if (open == no_token) return at;
    const token_index close = unit_.partner[open];
    if (unit_.tokens[open].is(tok::l_brace)) return close;
    // The variable is declared in the head of a loop.
    if (close + 1 < unit_.tokens.size() && unit_.tokens[close + 1].is(tok::l_brace))
      return unit_.partner[close + 1];
    token_index end = close;
    while (end < unit_.tokens.size() && unit_.tokens[end].isNot(tok::semi)) ++end;
    return end;
  }

  /// Returns whether a `try` in the BODY surrounds the jump; the body of a `try` becomes a function of its
  /// own.
  bool is_in_try(token_index t, const construct& c) const {
    for (const construct* inner = unit_.construct_around(t); inner != nullptr && inner != &c;
         inner = inner->around)
      if (inner->kind == construct_kind::try_catch && inner->first.holds(t)) return true;
    return false;
  }

  void check_after(const construct& c) const {
    const std::map<std::string, const NamedDecl*> used = named_in_after(c);
    const function_info* const function = index_.function_at(c.whole.begin);
    const auto first = declared_.lower_bound(c.first.begin);
    for (const auto& [at, variable] : std::ranges::subrange(first, declared_.lower_bound(c.first.end))) {
      const auto same = used.find(variable->getNameAsString());
      if (same == used.end() || same->second == variable || index_.function_at(at) != function) continue;
      const token_index end = end_of_scope(at);
      for (token_index t = at; t < end; ++t) {
        const auto j = index_.jumps.find(t);
        if (j == index_.jumps.end() || index_.function_at(t) != function || is_in_try(t, c)) continue;
        const bool stays = j->second.kind != jump_kind::leave_function && j->second.target != no_token &&
                           c.whole.holds(j->second.target);
        if (!stays)
          error(location_of(t),
                "AFTER of this 'dynamic_wind' uses '" + same->first +
                    "', but another variable hides it where this jump leaves BODY; rename one of them");
      }
    }
  }

  /// Reports `poll()` without a declaration. The linker would find the C library's `poll`.
  void check_poll(const CallExpr& call) const {
    const FunctionDecl* const callee = call.getDirectCallee();
    if (callee != nullptr && callee->isImplicit() && callee->getName() == "poll" && call.getNumArgs() == 0)
      error(call.getBeginLoc(), "'poll' is a statement without parentheses; write 'poll;'");
  }

  void check_attribute(const FunctionDecl& f, const Attr& attribute) const {
    const auto* nonnull = dyn_cast<NonNullAttr>(&attribute);
    const bool counts = (nonnull != nullptr && nonnull->args_size() > 0) || isa<FormatAttr>(attribute) ||
                        isa<FormatArgAttr>(attribute) || isa<AllocSizeAttr>(attribute) ||
                        isa<AllocAlignAttr>(attribute);
    if (counts)
      error(attribute.getLocation(),
            std::string("the attribute '") + attribute.getSpelling() +
                "' refers to parameters by number, and a worker function has one more in C; omit it");
    if (isa<AliasAttr>(attribute) || isa<IFuncAttr>(attribute) || isa<WeakRefAttr>(attribute) ||
        isa<AsmLabelAttr>(attribute))
      error(attribute.getLocation(),
            std::string("'") + attribute.getSpelling() +
                "' applies to one symbol, but a worker function has several; omit it, "
                "and write a function that calls the other one");
    if (isa<ConstructorAttr>(attribute) || isa<DestructorAttr>(attribute))
      error(attribute.getLocation(), "a worker function cannot be a " + std::string(attribute.getSpelling()) +
                                         "; call '" + f.getNameAsString() + "' from a plain " +
                                         attribute.getSpelling());
  }

  std::multimap<token_index, const VarDecl*>
      declared_;  ///< the variables, by the names in their declarations
};

}  // namespace

void check_hidden_names(CompilerInstance& compiler, const unit& u, const semantic_index& index) {
  hidden_name_checker(compiler, u, index).run();
}

}  // namespace sukima::language
