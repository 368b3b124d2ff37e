// SPDX-License-Identifier: Apache-2.0
// Moves types declared in a function, and static variables of BEFORE and AFTER, before the function, under
// unique names. Blocks that become functions use them, and such blocks are printed twice. Also moves
// thread-local variables of plain functions, because another function looks them up.
#include "plan/functions.hpp"

#include "plan/input.hpp"
#include "plan/names.hpp"
#include "plan/tokens.hpp"

namespace sukima::language {

using namespace clang;

namespace {

bool only_types(const local_declaration& d) {
  return !d.declared.empty() && std::all_of(d.declared.begin(), d.declared.end(),
                                            [](const NamedDecl* one) { return isa<TypeDecl>(one); });
}

/// Returns whether the declaration was inserted for the parser only.
bool is_put_in_for(const local_declaration& d) {
  return std::any_of(d.declared.begin(), d.declared.end(), [](const NamedDecl* one) {
    return one->getIdentifier() != nullptr && one->getName().starts_with("sukima_");
  });
}

bool is_static(const local_declaration& d) {
  const auto* first = std::find_if(d.declared.data(), d.declared.data() + d.declared.size(),
                                   [](const NamedDecl* one) { return isa<VarDecl>(one); });
  return first != d.declared.data() + d.declared.size() && cast<VarDecl>(*first)->isStaticLocal();
}

/// Returns whether another function must look up the variables of the declaration: their function is plain,
/// and may be inlined into a worker function, which may continue on another thread.
bool is_of_thread(const plan_input& in, const local_declaration& d) {
  context scope;
  scope.function = in.index.function_at(d.tokens.begin);
  return is_static(d) && scope.function != nullptr && !scope.function->is_worker &&
         std::ranges::any_of(d.declared, [&](const NamedDecl* one) {
           const auto* const variable = dyn_cast<VarDecl>(one);
           return variable != nullptr && is_looked_up_by_thread(in, variable, scope);
         });
}

/// Returns whether the range contains nothing that exists only in the function, apart from declarations that
/// have already been moved, and \p others, which will be.
bool can_move(const planner& p, token_range range, const std::set<const Decl*>& others = {}) {
  for (token_index t = range.begin; t < range.end; ++t) {
    if (p.in.construct_at.contains(t) || p.in.index.calls.contains(t)) return false;
    const auto name = p.in.index.names.find(t);
    if (name == p.in.index.names.end()) continue;
    const NamedDecl* declaration = name->second;
    if (isa<LabelDecl>(declaration)) return false;
    const auto* type = dyn_cast<TypedefNameDecl>(declaration);
    if (type != nullptr && type->getUnderlyingType()->isVariablyModifiedType()) return false;
    if (declaration->getParentFunctionOrMethod() == nullptr || isa<FieldDecl>(declaration)) continue;
    if (const auto* value = dyn_cast<ValueDecl>(declaration); value != nullptr && value->isLocalExternDecl())
      return false;
    const token_index place = p.in.unit.find(declaration->getLocation());
    if (p.names.renamed.contains(declaration->getCanonicalDecl()) ||
        others.contains(declaration->getCanonicalDecl()) || (place != no_token && range.holds(place)))
      continue;
    return false;
  }
  return true;
}

/// Returns the function's `#pragma pack` that applies to the moved declaration.
std::string packing_of(const plan_input& in, const function_info& f, token_range range) {
  const token_index first = in.unit.origins[f.body.begin], last = in.unit.origins[range.begin];
  std::string all;
  if (first == no_token || last == no_token) return all;
  for (const side_text& one : texts_in(in, first, last)) {
    const std::size_t word = one.pragma.find_first_not_of(" \t", one.pragma.find('"') + 1);
    if (word != std::string::npos && one.pragma.compare(word, 4, "pack") == 0) all += one.pragma + "\n";
  }
  return all;
}

void move_out(planner& p, const function_info& f, token_range range, std::string left, bool whole) {
  context scope;
  scope.function = &f;
  scope.is_copy = true;
  scope.moving = true;
  p.out.before_function.go_to(p.in.unit.tokens[range.begin].getLocation(), false);
  sheet text;
  plan_tokens(p, text, range, scope);
  const std::string packing = packing_of(p.in, f, range);
  if (!packing.empty()) {
    p.out.before_function.end_line();
    p.out.before_function.text("#pragma pack(push, sukima)\n" + packing);
  }
  p.out.before_function.append(std::move(text));
  if (!whole) p.out.before_function.text(";\n");
  if (!packing.empty()) {
    p.out.before_function.end_line();
    p.out.before_function.text("#pragma pack(pop, sukima)\n");
  }
  SUKIMA_ASSERT(!p.function.moved.contains(range.begin), "a declaration is moved once");
  p.function.moved[range.begin] = {range.end, std::move(left)};
}

/// Decides which types and static variables of a function are moved before it, and moves them.
class mover {
 public:
  mover(planner& p, const function_info& f)
      : p_(p),
        f_(f),
        twice_(p.in.unwinding && p.in.unwinding->find(&f) != nullptr),
        types_(f.types),
        named_records_(f.named_records.begin(), f.named_records.end()),
        declarations_(f.declarations) {
    for (const function_info& closure : p.in.index.closures_in(f.body)) {
      types_.insert(types_.end(), closure.types.begin(), closure.types.end());
      named_records_.insert(closure.named_records.begin(), closure.named_records.end());
      declarations_.insert(declarations_.end(), closure.declarations.begin(), closure.declarations.end());
    }
  }

  /// Returns whether any block of the function becomes a function of its own.
  bool is_needed() const {
    return twice_ || f_.has_closures ||
           std::any_of(f_.constructs.begin(), f_.constructs.end(),
                       [](const construct* c) {
                         return c->kind != construct_kind::poll && c->kind != construct_kind::throw_tag;
                       }) ||
           std::ranges::any_of(declarations_,
                               [this](const local_declaration& d) { return is_of_thread(p_.in, d); });
  }

  void run() {
    declare_ahead();
    token_index done = 0;
    for (const candidate& one : candidates()) {
      if (one.tokens.begin < done) continue;  // it is within the previous one
      if (!can_move(p_, one.tokens)) {
        if (one.declaration != nullptr && is_static(*one.declaration))
          report(p_.in, p_.in.unit.tokens[one.tokens.begin].getLocation(),
                 is_of_thread(p_.in, *one.declaration)
                     ? "this thread-local variable may be used by worker functions into which this function "
                       "is inlined, and its declaration uses names of this function; declare it at file scope"
                     : "this static variable is in a block that the generated C contains twice, and its "
                       "declaration uses names of this function; declare it at file scope");
        continue;
      }
      rename_types(one.tokens);
      std::string left;
      if (one.declaration != nullptr)
        rename_declared(*one.declaration);
      else
        left = one.tag->getKindName().str() + " " + rename(one.tag);
      move_out(p_, f_, one.tokens, std::move(left), one.declaration != nullptr);
      SUKIMA_ASSERT(one.tokens.end > done, "the declarations that are moved follow each other");
      done = one.tokens.end;
    }
  }

 private:
  struct candidate {
    token_range tokens;
    const local_declaration* declaration;  ///< null: the type is in the middle of another declaration
    const TagDecl* tag;
  };

  /// Returns the candidates in the order of the file, outer ones first.
  std::vector<candidate> candidates() const {
    std::vector<candidate> result;
    for (const local_declaration& d : declarations_)
      if (!is_put_in_for(d) &&
          (only_types(d) || (is_static(d) && (twice_ || is_in_wind(d.tokens) || is_of_thread(p_.in, d)))))
        result.push_back({d.tokens, &d, nullptr});
    for (const local_type& type : types_) result.push_back({type.tokens, nullptr, type.tag});
    std::stable_sort(result.begin(), result.end(), [](const candidate& a, const candidate& b) {
      return a.tokens.begin < b.tokens.begin ||
             (a.tokens.begin == b.tokens.begin && a.tokens.end > b.tokens.end);
    });
    return result;
  }

  /// Declares the structures and unions that are named before they have members, or never have any, so that
  /// types that are moved can point to them. Omits those whose members depend on variables of the function.
  void declare_ahead() {
    std::vector<const RecordDecl*> ahead;
    for (const RecordDecl* one : named_records_)
      if (!one->isThisDeclarationADefinition() && !p_.names.renamed.contains(one)) ahead.push_back(one);
    std::set<const Decl*> moved = movable_types({ahead.begin(), ahead.end()});
    std::erase_if(ahead, [&moved](const RecordDecl* one) { return !moved.contains(one); });
    std::ranges::sort(ahead, {},
                      [this](const RecordDecl* one) { return p_.in.unit.find(one->getLocation()); });
    for (const RecordDecl* one : ahead) {
      p_.out.before_function.end_line();
      p_.out.before_function.text(one->getKindName().str() + " " + rename(one) + ";\n");
    }
  }

  /// Returns the types of the function that can be moved if all of them are, and \p moved as far as these do
  /// not depend on variables of the function.
  std::set<const Decl*> movable_types(std::set<const Decl*> moved) const {
    std::vector<std::pair<token_range, std::vector<const Decl*>>> left;
    for (const local_type& type : types_) {
      left.push_back({type.tokens, {type.tag->getCanonicalDecl()}});
      if (const auto* numbers = dyn_cast<EnumDecl>(type.tag))
        for (const EnumConstantDecl* number : numbers->enumerators())
          left.back().second.push_back(number->getCanonicalDecl());
    }
    for (const local_declaration& d : declarations_)
      if (only_types(d) && !is_put_in_for(d)) {
        left.push_back({d.tokens, {}});
        for (const NamedDecl* one : d.declared)
          if (isa<TypedefNameDecl>(one)) left.back().second.push_back(one->getCanonicalDecl());
      }
    for (const auto& [range, names] : left) moved.insert(names.begin(), names.end());
    const auto depends = [&](const auto& one) { return !can_move(p_, one.first, moved); };
    for (auto one = std::ranges::find_if(left, depends); one != left.end();
         one = std::ranges::find_if(left, depends)) {
      for (const Decl* name : one->second) moved.erase(name);
      left.erase(one);
    }
    return moved;
  }

  bool is_in_wind(token_range range) const {
    for (const construct* c = p_.in.unit.construct_around(range.begin); c != nullptr; c = c->around)
      if (c->kind == construct_kind::wind && (c->before.holds(range) || c->after.holds(range))) return true;
    return false;
  }

  std::string rename(const NamedDecl* one) {
    const auto [place, is_new] = p_.names.renamed.try_emplace(one->getCanonicalDecl());
    if (is_new)
      place->second = "sukima_" + std::to_string(++p_.names.moved_count) + "_" + one->getNameAsString();
    return place->second;
  }

  void rename_declared(const local_declaration& d) {
    for (const NamedDecl* name : d.declared)
      if (isa<TypedefNameDecl>(name) || isa<VarDecl>(name) ||
          (isa<TagDecl>(name) && name->getIdentifier() != nullptr))
        rename(name);
  }

  /// Names the types in a range. Types of members without a name remain unnamed.
  void rename_types(token_range range) {
    for (const local_type& type : types_) {
      if (!range.holds(type.tokens)) continue;
      if (const auto* parent = dyn_cast<RecordDecl>(type.tag->getDeclContext());
          parent == nullptr || type.tag->getIdentifier() != nullptr) {
        const bool unnamed = type.tag->getIdentifier() == nullptr;
        const std::string own = rename(type.tag);
        if (unnamed) p_.function.tag_names[type.brace] = own;
      }
      if (const auto* numbers = dyn_cast<EnumDecl>(type.tag))
        for (const EnumConstantDecl* number : numbers->enumerators()) rename(number);
    }
  }

  planner& p_;
  const function_info& f_;
  bool twice_;  ///< the function has two versions
  std::vector<local_type> types_;
  std::set<const RecordDecl*> named_records_;
  std::vector<local_declaration> declarations_;
};

}  // namespace

void move_declarations(planner& p, const function_info& f) {
  if (mover m(p, f); m.is_needed()) m.run();
}

}  // namespace sukima::language
