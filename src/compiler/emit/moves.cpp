// SPDX-License-Identifier: Apache-2.0
// Types that are declared in a function, and static variables of BEFORE and AFTER, are moved in front of the
// function under names of their own: blocks that become functions use them, and those blocks exist twice.
#include "emit/emitter.hpp"

namespace sukima::language {

using namespace clang;

namespace {

bool only_types(const local_declaration& d) {
  return !d.declared.empty() && std::all_of(d.declared.begin(), d.declared.end(),
                                            [](const NamedDecl* one) { return isa<TypeDecl>(one); });
}

/// Put in for the parser only.
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

}  // namespace

/// Nothing in it is of the function only, but what has been moved already.
bool emitter::can_move(token_range range) const {
  for (token_index t = range.begin; t < range.end; ++t) {
    if (construct_at_.contains(t) || index_.calls.contains(t)) return false;
    const auto name = index_.names.find(t);
    if (name == index_.names.end()) continue;
    const NamedDecl* declaration = name->second;
    if (isa<LabelDecl>(declaration)) return false;
    const auto* type = dyn_cast<TypedefNameDecl>(declaration);
    if (type != nullptr && type->getUnderlyingType()->isVariablyModifiedType()) return false;
    if (declaration->getParentFunctionOrMethod() == nullptr || isa<FieldDecl>(declaration)) continue;
    if (const auto* value = dyn_cast<ValueDecl>(declaration); value != nullptr && value->isLocalExternDecl())
      return false;
    const token_index place = unit_.find(declaration->getLocation());
    if (renamed_.contains(declaration->getCanonicalDecl()) || (place != no_token && range.holds(place)))
      continue;
    return false;
  }
  return true;
}

void emitter::move(const function_info& f, token_range range, std::string left, bool whole) {
  context where;
  where.function = &f;
  where.is_copy = true;
  where.moving = true;
  go_to(before_, unit_.tokens[range.begin].getLocation(), false);
  writer text(options_.line_directives);
  print(text, range, where);
  before_.append(text);
  if (!whole) before_.text(";\n");
  moved_[range.begin] = {range.end, std::move(left)};
}

void emitter::move_declarations(const function_info& f) {
  moved_.clear();
  tag_names_.clear();
  const bool outlines = std::any_of(f.constructs.begin(), f.constructs.end(), [](const construct* c) {
    return c->kind != construct_kind::poll && c->kind != construct_kind::throw_tag;
  });
  const bool twice = plan_ && plan_->find(&f) != nullptr;
  if (!outlines && !f.has_closures && !twice) return;
  std::vector<local_type> types = f.types;
  std::vector<local_declaration> declarations = f.declarations;
  for (const function_info& closure : index_.closures) {
    if (!f.body.holds(closure.body)) continue;
    types.insert(types.end(), closure.types.begin(), closure.types.end());
    declarations.insert(declarations.end(), closure.declarations.begin(), closure.declarations.end());
  }
  const auto rename = [&](const NamedDecl* one) {
    const auto [place, is_new] = renamed_.try_emplace(one->getCanonicalDecl());
    if (is_new) place->second = "sukima_" + std::to_string(++moves_) + "_" + one->getNameAsString();
    return place->second;
  };
  // The types in a range get their names; those of members without a name keep none.
  const auto rename_types = [&](token_range range) {
    for (const local_type& type : types) {
      if (!range.holds(type.tokens)) continue;
      if (const auto* parent = dyn_cast<RecordDecl>(type.tag->getDeclContext());
          parent == nullptr || type.tag->getIdentifier() != nullptr) {
        const bool unnamed = type.tag->getIdentifier() == nullptr;
        const std::string own = rename(type.tag);
        if (unnamed) tag_names_[type.brace] = own;
      }
      if (const auto* numbers = dyn_cast<EnumDecl>(type.tag))
        for (const EnumConstantDecl* number : numbers->enumerators()) rename(number);
    }
  };
  struct candidate {
    token_range tokens;
    const local_declaration* declaration;  ///< or null: a type in the middle of something else
    const TagDecl* tag;
  };
  std::vector<candidate> candidates;
  const auto in_wind = [&](token_range range) {
    return std::any_of(f.constructs.begin(), f.constructs.end(), [&](const construct* c) {
      return c->kind == construct_kind::wind && (c->before.holds(range) || c->after.holds(range));
    });
  };
  for (const local_declaration& d : declarations)
    if (!is_put_in_for(d) && (only_types(d) || (is_static(d) && (twice || in_wind(d.tokens)))))
      candidates.push_back({d.tokens, &d, nullptr});
  for (const local_type& type : types) candidates.push_back({type.tokens, nullptr, type.tag});
  std::stable_sort(candidates.begin(), candidates.end(), [](const candidate& a, const candidate& b) {
    return a.tokens.begin < b.tokens.begin ||
           (a.tokens.begin == b.tokens.begin && a.tokens.end > b.tokens.end);
  });
  token_index done = 0;
  for (const candidate& one : candidates) {
    if (one.tokens.begin < done) continue;  // within the one before
    if (one.declaration != nullptr && is_static(*one.declaration)) {
      if (!can_move(one.tokens)) {
        report(unit_.tokens[one.tokens.begin].getLocation(),
               "this static variable stands in a block that exists twice, and what it is declared with is of "
               "this function only; declare it at file scope");
        continue;
      }
    } else if (!can_move(one.tokens)) {
      continue;
    }
    rename_types(one.tokens);
    std::string left;
    if (one.declaration != nullptr) {
      for (const NamedDecl* name : one.declaration->declared)
        if (isa<TypedefNameDecl>(name) || isa<VarDecl>(name) ||
            (isa<TagDecl>(name) && name->getIdentifier() != nullptr))
          rename(name);
    } else {
      left = one.tag->getKindName().str() + " " + rename(one.tag);
    }
    move(f, one.tokens, std::move(left), one.declaration != nullptr);
    done = one.tokens.end;
  }
}

}  // namespace sukima::language
