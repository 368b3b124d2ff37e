// SPDX-License-Identifier: Apache-2.0
// Values that travel between the nodes of a cluster: determines which functions are entries, and which tasks
// can leave their node.
#include "index/recording.hpp"
#include "source/report.hpp"

namespace sukima::language {

using namespace clang;

std::string why_it_stays(const ASTContext& ast, QualType type, const std::string& path) {
  type = type.getCanonicalType().getAtomicUnqualifiedType();
  if (is_closure_type(type))
    return "'" + path + "' is a pointer to a closure, which lives as long as its creator";
  if (type->isFunctionPointerType()) return "'" + path + "' is a pointer to a function";
  if (type->isAnyPointerType() || type->isBlockPointerType()) return "'" + path + "' is a pointer";
  if (const ConstantArrayType* array = ast.getAsConstantArrayType(type))
    return why_it_stays(ast, array->getElementType(), path + "[]");
  if (type->isArrayType() || type->isIncompleteType()) return "the length of '" + path + "' is unknown";
  if (const auto* record = type->getAs<RecordType>())
    for (const FieldDecl* field : record->getDecl()->fields()) {
      std::string inner = path;
      if (const std::string name = field->getNameAsString(); !name.empty()) inner.append(".").append(name);
      std::string reason = why_it_stays(ast, field->getType(), inner);
      if (!reason.empty()) return reason;
    }
  return "";
}

namespace {

/// Determines how the tasks of one type travel.
class task_traveller {
 public:
  task_traveller(const ASTContext& ast, const unit& u, const task_declaration& task)
      : ast_(ast), unit_(u), task_(task) {}

  task_travel look(const semantic_index& index) {
    for (const auto& [t, field] : index.fields)
      if (task_.tokens.holds(t) && field->getParent()->getName() == task_type_name(task_.name)) {
        add_all(*field->getParent(), nullptr);
        break;
      }
    if (result_.stays.empty() && result_.members.empty())
      result_.stays = "none of its members is 'in' or 'out'";
    return std::move(result_);
  }

 private:
  /// \param around  the declaration of the anonymous structure that contains these members; null: the task
  /// does
  void add_all(const RecordDecl& record, const task_member* around) {
    for (const FieldDecl* field : record.fields()) {
      const task_member* const member = around != nullptr ? around : declaration_of(*field);
      if (member == nullptr) continue;
      if (field->isAnonymousStructOrUnion())
        add_all(*field->getType()->castAs<RecordType>()->getDecl(), member);
      else
        add(*field, *member);
    }
  }

  const task_member* declaration_of(const FieldDecl& field) const {
    for (const SourceLocation place : {field.getLocation(), field.getBeginLoc()})
      for (const task_member& member : task_.members)
        if (const token_index t = unit_.find(place); t != no_token && member.tokens.holds(t)) return &member;
    return nullptr;
  }

  void add(const FieldDecl& field, const task_member& member) {
    travelling_member one;
    one.name = field.getNameAsString();
    one.is_in = member.is_in;
    one.is_out = member.is_out;
    const auto length = member.lengths.find(unit_.find(field.getLocation()));
    if (length != member.lengths.end() && (member.is_in || member.is_out)) {
      one.length = length->second;
      add_array(field, one);
    } else {
      add_reason(why_it_stays(ast_, field.getType(), one.name), field);
      if (field.isBitField() && (member.is_in || member.is_out))
        add_reason("'" + one.name + "' is a bit-field; declare it without a width", field);
    }
    integers_[one.name] = &field;
    if (member.is_in || member.is_out)
      result_.members.push_back(std::move(one));
    else
      result_.left_behind.insert(one.name);
  }

  void add_array(const FieldDecl& field, travelling_member& array) {
    const QualType element = field.getType()->getPointeeType();
    if (element.isNull()) return;
    add_reason(why_it_stays(ast_, element, array.name + "[]"), field);
    const auto known = std::find_if(result_.members.begin(), result_.members.end(),
                                    [&array](const travelling_member& m) { return m.name == array.length; });
    if (known == result_.members.end() || (array.is_in && !known->is_in)) {
      add_reason("the length '" + array.length + "' of '" + array.name +
                     "' does not travel; declare it 'in' before it",
                 field);
      return;
    }
    const FieldDecl* const length = integers_.at(array.length);
    if (!length->getType()->isIntegralOrEnumerationType() || ast_.getTypeSize(length->getType()) > 64) {
      add_reason(
          "the length '" + array.length + "' of '" + array.name + "' is not an integer of at most 64 bits",
          field);
      return;
    }
    array.is_late = !known->is_in;
    array.has_signed_length = length->getType()->isSignedIntegerOrEnumerationType();
  }

  void add_reason(const std::string& reason, const FieldDecl& field) {
    if (reason.empty() || !result_.stays.empty()) return;
    const std::string name = field.getNameAsString();
    result_.stays = reason;
    if (reason == "'" + name + "' is a pointer")
      result_.stays += "; give its length, as in 'in T " + name + "[n]' with an 'in' member n before it";
  }

  const ASTContext& ast_;
  const unit& unit_;
  const task_declaration& task_;
  task_travel result_;
  std::map<std::string, const FieldDecl*> integers_;  ///< the members so far that can be lengths
};

/// Returns the worker function whose declaration begins with a `cluster`; null: there is none.
const FunctionDecl* entry_at(const unit& u, const semantic_index& index, token_index keyword) {
  const FunctionDecl* found = nullptr;
  token_index name = no_token;
  for (const FunctionDecl* first : index.workers)
    for (const FunctionDecl* f : first->redecls())
      if (const token_index t = u.find(f->getLocation()); t != no_token && t > keyword && t < name) {
        found = first;
        name = t;
      }
  for (token_index t = keyword; t < name && found != nullptr; ++t) {
    if (u.roles[t] == token_role::keyword) continue;
    if (u.tokens[t].is(tok::semi)) return nullptr;
    if (u.partner[t] != no_token && u.partner[t] > t && u.partner[t] < name) t = u.partner[t];
  }
  return found;
}

}  // namespace

void find_travelling_tasks(const ASTContext& ast, const unit& u, semantic_index& index,
                           DiagnosticsEngine& diagnostics) {
  if (u.cluster_keywords.empty()) return;
  for (const token_index t : u.cluster_keywords) {
    const FunctionDecl* const function = entry_at(u, index, t);
    if (function != nullptr)
      index.cluster_entries.emplace(function->getCanonicalDecl(), t);
    else
      report_error(diagnostics, u.tokens[t].getLocation(),
                   "'cluster' applies to functions only; this declares none");
  }
  for (const task_declaration& task : u.tasks)
    index.travels.emplace(task.name, task_traveller(ast, u, task).look(index));
}

}  // namespace sukima::language
