// SPDX-License-Identifier: Apache-2.0
#include "check/check.hpp"

#include <clang/Basic/Builtins.h>

#include "check/rules.hpp"

namespace sukima::language {
namespace {

using namespace clang;

const char* word_of(construct_kind kind) {
  switch (kind) {
    case construct_kind::do_two:
      return "do_two";
    case construct_kind::loop:
      return "parallel for";
    case construct_kind::wind:
      return "dynamic_wind";
    case construct_kind::try_catch:
      return "try";
    case construct_kind::throw_tag:
      return "throw";
    case construct_kind::join:
      return "join";
    case construct_kind::poll:
      return "poll";
  }
  return "";
}

/// A block of plain C that control may leave only at its end, because the function may be suspended while the
/// block runs.
struct handler {
  token_range block;
  const char* name;
};

bool is_alloca(const CallExpr& call) {
  const unsigned id = call.getBuiltinCallee();
  return id == Builtin::BIalloca || id == Builtin::BI__builtin_alloca;
}

std::vector<handler> handlers_of(const construct& c) {
  std::vector<handler> result;
  const auto add = [&result](token_range range, const char* name) {
    if (!range.empty()) result.push_back({range, name});
  };
  if (c.kind == construct_kind::wind) {
    add(c.before, "BEFORE");
    add(c.after, "AFTER");
  } else {
    add(c.put, "PUT");
    add(c.get, "GET");
    add(c.guard, "'guard'");
    add(c.split, "'split'");
  }
  return result;
}

/// Returns the parts of a construct that no jump may enter.
std::vector<token_range> parts_of(const construct& c) {
  std::vector<token_range> result;
  for (const token_range& r : {c.first, c.second, c.before, c.after, c.put, c.get})
    if (!r.empty()) result.push_back(r);
  return result;
}

class checker : rules {
 public:
  checker(CompilerInstance& compiler, const unit& u, const semantic_index& index)
      : rules(compiler, u, index) {}

  void run() {
    for (const construct& c : unit_.constructs) check_location(c);
    for (const construct& c : unit_.constructs)
      for (const handler& h : handlers_of(c)) check_handler(c, h);
    for (const function_info& f : index_.functions) check_jumps(f);
    for (const function_info& f : index_.closures) check_jumps(f);
    check_calls();
    check_argument_lists();
    check_cleanups();
    check_variadic_entries();
    check_tasks();
    check_sizes_of_tasks();
    check_worker_declarations();
  }

 private:
  void check_location(const construct& c) {
    const function_info* f = index_.function_at(c.whole.begin);
    if (f != nullptr && f->is_worker) return;
    const std::string name = f == nullptr            ? ""
                             : f->closure != nullptr ? f->closure->name
                                                     : f->declaration->getNameAsString();
    error(c.location, std::string("'") + word_of(c.kind) +
                          "' is allowed only in worker functions and in task_exec" +
                          (f != nullptr ? "; write 'worker' before the declaration of '" + name + "'" : ""));
  }

  /// Returns whether a token belongs to the block itself and not to a closure in it.
  bool belongs(token_index t, const handler& h) const {
    return index_.function_at(t) == index_.function_at(h.block.begin);
  }

  void check_handler(const construct& c, const handler& h) {
    SUKIMA_ASSERT(c.whole.holds(h.block), "a handler is a block of its construct");
    const std::string where = std::string(h.name) + " of this '" + word_of(c.kind) + "'";
    for (const construct& inner : unit_.constructs_in(h.block))
      error(inner.location, std::string("'") + word_of(inner.kind) + "' is not allowed in " + where +
                                ", which must be plain C; move it out of the block");
    for (token_index t = h.block.begin; t < h.block.end; ++t) {
      if (const auto call = index_.calls.find(t); call != index_.calls.end())
        error(call->second.call->getBeginLoc(),
              "a worker function cannot be called in " + where +
                  "; call a plain function, or call it before the construct");
      if (const auto call = index_.closure_calls.find(t);
          call != index_.closure_calls.end() && call->second.is_worker)
        error(call->second.call->getBeginLoc(),
              "a worker closure cannot be called in " + where +
                  "; call a plain closure, or call it before the construct");
      // The block becomes a function of its own for the case that another worker backtracks over it.
      if (const auto call = index_.all_calls.find(t);
          call != index_.all_calls.end() && belongs(t, h) &&
          (h.block.begin == c.before.begin || h.block.begin == c.put.begin) && is_alloca(*call->second))
        error(call->second->getBeginLoc(),
              "'alloca' in " + where +
                  " allocates memory that is freed when the block ends; call it before the construct");
      if (index_.closure_jumps.contains(t) && belongs(t, h))
        error(location_of(t), "'goto' cannot leave " + where + "; let the block run to its end");
      const auto j = index_.jumps.find(t);
      if (j == index_.jumps.end() || !belongs(t, h)) continue;
      const bool leaves = j->second.kind == jump_kind::leave_function || j->second.target == no_token ||
                          !h.block.holds(j->second.target);
      if (leaves)
        error(location_of(t), "'" + unit_.tokens[t].getIdentifierInfo()->getName().str() + "' cannot leave " +
                                  where + "; let the block run to its end");
    }
  }

  /// Returns whether a part of a construct of the function contains a token.
  bool is_in_part(token_index t, const function_info& f) const {
    for (const construct* c = unit_.construct_around(t); c != nullptr; c = c->around)
      if (f.body.holds(c->whole) &&
          std::ranges::any_of(parts_of(*c), [t](token_range r) { return r.holds(t); }))
        return true;
    return false;
  }

  /// Returns whether a jump enters constructs of the function; `into` is the outermost of them.
  bool enters(token_index from, token_index to, const function_info& f, const construct** into) const {
    bool result = false;
    for (const construct* c = unit_.construct_around(to); c != nullptr; c = c->around)
      for (const token_range& r : parts_of(*c))
        if (f.body.holds(c->whole) && r.holds(to) && !r.holds(from)) {
          SUKIMA_ASSERT(!result || c->whole.holds((*into)->whole),
                        "constructs are looked at from the inside out");
          *into = c;
          result = true;
        }
    return result;
  }

  void check_jumps(const function_info& f) {
    const construct* into = nullptr;
    for (token_index t = f.body.begin; t < f.body.end; ++t) {
      const auto j = index_.jumps.find(t);
      if (j == index_.jumps.end() || index_.function_at(t) != &f) continue;
      if (j->second.kind == jump_kind::go_to) {
        const auto label = f.labels.find(j->second.label);
        if (label != f.labels.end() && enters(t, label->second, f, &into))
          error(location_of(t), std::string("this 'goto' jumps into a '") + word_of(into->kind) +
                                    "'; move the label before the construct");
      }
      if (f.execution != nullptr && j->second.kind == jump_kind::leave_function && j->second.end > t + 2)
        error(location_of(t), "'task_exec' cannot return a value; store the result in a member of 'this'");
    }
    check_asm_jumps(f);
    for (const auto& [statement, head] : f.switches) {
      const token_index t = unit_.find(statement->getKeywordLoc());
      if (t != no_token && enters(head, t, f, &into))
        error(location_of(t), std::string("this label is inside a '") + word_of(into->kind) +
                                  "', but its 'switch' is outside; move the switch into the construct");
    }
    if (f.computed_goto && f.is_worker && !f.constructs.empty())
      for (token_index t = f.body.begin; t < f.body.end; ++t)
        if (unit_.tokens[t].is(tok::kw_goto) && t + 1 < f.body.end && unit_.tokens[t + 1].is(tok::star) &&
            is_in_part(t, f))
          error(location_of(t),
                "computed goto is not allowed in a construct, because its target may be outside; use a "
                "switch with ordinary gotos");
  }

  /// Reports jumps in assembler out of a construct or into one. They cannot run the code that the generated C
  /// runs at the user's jumps out of a construct.
  void check_asm_jumps(const function_info& f) {
    for (const auto& [t, label] : f.asm_jumps) {
      const auto found = f.labels.find(label);
      if (t == no_token || found == f.labels.end()) continue;
      const construct* crossed = nullptr;
      if (enters(found->second, t, f, &crossed))
        error(location_of(t), std::string("'asm goto' cannot leave this '") + word_of(crossed->kind) +
                                  "'; jump to a label within the block, and leave with 'goto' there");
      else if (enters(t, found->second, f, &crossed))
        error(location_of(t), std::string("'asm goto' jumps into a '") + word_of(crossed->kind) +
                                  "'; move the label before the construct");
    }
  }

  void check_calls() {
    for (const auto& [open, call] : in_order(index_.all_calls)) {
      const FunctionDecl* callee = call->getDirectCallee();
      if (callee == nullptr) continue;
      StringRef name = callee->getName();
      name.consume_front("__builtin_");
      name = name.ltrim('_');  // the C library defines setjmp as a macro that calls _setjmp
      if (name != "longjmp" && name != "siglongjmp" && name != "setjmp" && name != "sigsetjmp") continue;
      const function_info* f = index_.function_at(open);
      if (f != nullptr && f->is_worker)
        error(call->getBeginLoc(), "'" + name.str() +
                                       "' is not allowed in a worker function, because it would jump "
                                       "across constructs; use 'try' and 'throw'");
    }
  }

  /// Reports `va_start` in the body of a try. The body becomes a function of its own, which has other
  /// arguments.
  void check_argument_lists() {
    for (const auto& [open, call] : in_order(index_.all_calls)) {
      const unsigned id = call->getBuiltinCallee();
      if (id != Builtin::BI__builtin_va_start && id != Builtin::BI__va_start) continue;
      for (const construct& c : unit_.constructs)
        if (c.kind == construct_kind::try_catch && c.first.holds(open) &&
            index_.function_at(open) == index_.function_at(c.whole.begin))
          return error(call->getBeginLoc(),
                       "'va_start' is not allowed in the body of 'try', which cannot access the function's "
                       "variable arguments; call it before the 'try'");
    }
  }

  /// Reports worker functions as clean-up functions. The C compiler calls those without the top of the choice
  /// stack.
  void check_cleanups() {
    for (const auto& [t, variable] : in_order(index_.declared))
      if (const auto* cleanup = variable->getAttr<CleanupAttr>();
          cleanup != nullptr && is_worker_type(cleanup->getFunctionDecl()->getType()))
        error(cleanup->getLocation(), "the worker function '" +
                                          cleanup->getFunctionDecl()->getNameAsString() +
                                          "' cannot clean up a variable; use a plain function or "
                                          "'dynamic_wind'");
  }

  /// Reports variadic worker functions that plain C enters, because a C entry has a fixed number of
  /// arguments.
  void check_variadic_entries() {
    const std::string message =
        " is variadic, so only worker functions can call it; let plain C call a worker function with fixed "
        "parameters";
    std::map<token_index, std::pair<SourceLocation, std::string>> found;
    for (const auto& [open, call] : index_.calls) {
      const QualType callee = call.call->getCallee()->getType()->getPointeeType();
      const auto* type = callee.isNull() ? nullptr : callee->getAs<FunctionProtoType>();
      if (call.in_worker || type == nullptr || !type->isVariadic()) continue;
      found[open] = {call.call->getBeginLoc(),
                     call.callee != nullptr ? "worker function '" + call.callee->getNameAsString() + "'"
                                            : "this worker function"};
    }
    for (const token_index t : index_.plain_entries)
      if (const auto* f = dyn_cast<FunctionDecl>(index_.names.at(t)); f != nullptr && f->isVariadic())
        found[t] = {location_of(t), "worker function '" + f->getNameAsString() + "'"};
    for (const auto& [t, one] : found) error(one.first, one.second + message);
  }

  /// Warns of `in` members that PUT never mentions. If PUT passes `this` to a function, that function may set
  /// them.
  void check_tasks() {
    for (const construct& c : unit_.constructs) {
      if (c.put.empty() || c.task.empty()) continue;
      const task_declaration* task = nullptr;
      for (const task_declaration& t : unit_.tasks)
        if (t.name == c.task) task = &t;
      if (task == nullptr) continue;
      std::set<std::string> mentioned;
      bool whole = false;
      for (token_index t = c.put.begin; t < c.put.end; ++t) {
        const auto name = index_.names.find(t);
        if (unit_.roles[t] == token_role::parsed_only || name == index_.names.end() ||
            name->second->getName() != "this")
          continue;
        if (t + 2 < c.put.end && unit_.tokens[t + 1].is(tok::period) &&
            unit_.tokens[t + 2].is(tok::identifier))
          mentioned.insert(unit_.tokens[t + 2].getIdentifierInfo()->getName().str());
        else
          whole = true;
      }
      if (whole) continue;
      std::string missing;
      for (const task_member& member : task->members) {
        if (!member.is_in) continue;
        for (const std::string& name : names_to_set(member, c.task, mentioned))
          if (!mentioned.contains(name)) missing += (missing.empty() ? "'" : ", '") + name + "'";
      }
      if (!missing.empty())
        warning(c.task_location, "-Wput",
                "PUT does not set " + missing + " of task '" + c.task +
                    (missing.find(',') == std::string::npos ? "'; it remains zero" : "'; they remain zero"));
    }
  }

  /// Reports tasks that end with an array without a length. The runtime has no room for its elements.
  void check_sizes_of_tasks() {
    std::set<const RecordDecl*> known;
    for (const auto& [t, field] : index_.fields) {
      const RecordDecl* const record = field->getParent();
      if (!record->hasFlexibleArrayMember() || !record->getName().starts_with(task_type_name("")) ||
          !known.insert(record).second)
        continue;
      const FieldDecl* last = field;
      for (const FieldDecl* one : record->fields()) last = one;
      error(
          last->getLocation(),
          "a task cannot end with an array without a length, because all tasks of a type have the same "
          "size; write a constant length, or 'T v[n]' with an earlier member n for a pointer that PUT sets");
    }
  }

  /// Returns whether PUT mentions a member of a structure or union, or of an anonymous one in it.
  static bool has_mentioned(const RecordDecl& record, const std::set<std::string>& mentioned) {
    return std::ranges::any_of(record.fields(), [&](const FieldDecl* one) {
      const RecordDecl* const inner =
          one->isAnonymousStructOrUnion() ? one->getType()->getAsRecordDecl() : nullptr;
      return inner != nullptr ? has_mentioned(*inner, mentioned) : mentioned.contains(one->getNameAsString());
    });
  }

  /// Returns the names in a member's declaration that the user can write after `this.` and that are not set.
  /// One set member of an anonymous union is enough.
  std::vector<std::string> names_to_set(const task_member& member, const std::string& task,
                                        const std::set<std::string>& mentioned) const {
    std::vector<std::string> names;
    for (const auto& [t, field] : index_.fields) {
      if (!member.tokens.holds(t) || field->getName().empty()) continue;
      const RecordDecl* around = field->getParent();
      bool is_set = false;
      for (; around->isAnonymousStructOrUnion(); around = cast<RecordDecl>(around->getParent()))
        is_set |= around->isUnion() && has_mentioned(*around, mentioned);
      if (!is_set && around->getName() == task_type_name(task)) names.push_back(field->getNameAsString());
    }
    return names;
  }

  void check_worker_declarations() {
    for (const auto& [open, declarator] : in_order(index_.declarators))
      if (!declarator.has_prototype)
        error(location_of(open), "a worker function needs a prototype; write (void) if it has no parameters");
    for (const FunctionDecl* first : index_.workers)
      for (const FunctionDecl* f : first->redecls()) {
        const FunctionTypeLoc own = f->getFunctionTypeLoc();
        if (own.isNull() || index_.declarators.contains(unit_.find(own.getLParenLoc()))) continue;
        error(f->getLocation(),
              "'" + f->getNameAsString() +
                  "' is declared with 'worker' elsewhere; write 'worker' before this declaration, too");
      }
    for (const FunctionDecl* f : index_.workers) {
      if (f->isMain() && f->getReturnType().getCanonicalType() != ast_.IntTy)
        error(f->getLocation(), "'main' must return int");
      if (f->isVariadic() && f->getNumParams() == 0)
        error(f->getLocation(), "a variadic worker function needs a named parameter");
      for (const FunctionDecl* one : f->redecls())
        if (one->getNumParams() > 0 && !one->hasWrittenPrototype())
          error(one->getLocation(),
                "a worker function needs a prototype; write the parameters' types in the parentheses");
    }
  }
};

}  // namespace

void check(CompilerInstance& compiler, const unit& u, const semantic_index& index) {
  checker(compiler, u, index).run();
  check_closures(compiler, u, index);
  check_cluster(compiler, u, index);
  check_hidden_names(compiler, u, index);
  check_successors(compiler, u, index);
  check_returns(compiler, u, index);
  check_values(compiler, u, index);
  check_worker_locals(compiler, u, index);
}

}  // namespace sukima::language
