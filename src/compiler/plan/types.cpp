// SPDX-License-Identifier: Apache-2.0
#include "plan/types.hpp"

#include "index/semantic_index.hpp"

namespace sukima::language {

using namespace clang;

namespace {

std::string qualifiers(QualType type) {
  if (type.getLocalQualifiers().hasAddressSpace())
    throw unprintable_type{"it is in another address space; declare it in this block"};
  std::string text;
  if (type.isLocalConstQualified()) text += "const ";
  if (type.isLocalVolatileQualified()) text += "volatile ";
  if (type.isLocalRestrictQualified()) text += "__restrict ";
  return text;
}

bool is_va_list(QualType type, const ASTContext& context) {
  return context.hasSameType(type, context.getBuiltinVaListType());
}
/// As a parameter, va_list may be a pointer to a type whose name differs between compilers.
constexpr const char* va_list_as_parameter = "__typeof__(&(*(__builtin_va_list *)0)[0])";

/// Returns the words of a type, followed by a name or declarator.
std::string with_words(const std::string& words, const std::string& name) {
  return name.empty() ? words : words + " " + name;
}

/// Writes one type, and consumes the given lengths.
class type_writer {
 public:
  explicit type_writer(const type_style& style) : style_(style) {}
  std::string declare(QualType type, const std::string& name);

 private:
  std::string moved_name(const TypeDecl* type) const;
  std::string tag_words(const TagDecl* tag) const;
  std::string alias_word(const TypedefNameDecl* alias) const;
  std::string parameters(const FunctionType* function);
  std::string array(QualType element, QualType whole, const std::string& name, const std::string& length) {
    return declare(style_.context.getQualifiedType(element, whole.getLocalQualifiers()),
                   name + "[" + length + "]");
  }

  const type_style& style_;
  std::size_t next_length_ = 0;
  bool in_prototype_ = false;
};

/// Returns the name of a type that has been moved out of its function; empty: it has not been moved.
std::string type_writer::moved_name(const TypeDecl* type) const {
  if (style_.renamed == nullptr) return "";
  const auto own = style_.renamed->find(type->getCanonicalDecl());
  return own == style_.renamed->end() ? "" : own->second;
}

/// Returns the name of a typedef, which keeps its attributes; empty: the typedef has no name where this type
/// is written.
std::string type_writer::alias_word(const TypedefNameDecl* alias) const {
  if (alias->getParentFunctionOrMethod() != nullptr) return moved_name(alias);
  const TagDecl* const tag = alias->getUnderlyingType()->getAsTagDecl();
  const bool has_name = tag == nullptr || tag->getIdentifier() != nullptr;
  const bool is_hidden =
      style_.variables != nullptr && has_name && style_.variables->contains(alias->getNameAsString());
  return is_hidden ? "" : alias->getNameAsString();
}

std::string type_writer::tag_words(const TagDecl* tag) const {
  const std::string kind = tag->getKindName().str();
  if (const std::string own = moved_name(tag); !own.empty()) return kind + " " + own;
  if (tag->getParentFunctionOrMethod() != nullptr)
    throw unprintable_type{"the type '" + tag->getNameAsString() +
                           (tag->getDefinition() != nullptr
                                ? "' depends on variables of the function that declares it"
                                : "' is declared in this function only") +
                           "; declare it outside the function"};
  if (tag->getIdentifier() != nullptr) return kind + " " + tag->getNameAsString();
  if (const TypedefNameDecl* alias = tag->getTypedefNameForAnonDecl()) return alias->getNameAsString();
  throw unprintable_type{"the " + kind + " has no name; give it one"};
}

std::string type_writer::parameters(const FunctionType* function) {
  const CallingConv convention = function->getCallConv();
  if (convention != CC_C && convention != CC_X86_64SysV && !is_worker_type(QualType(function, 0)) &&
      !is_closure_type(QualType(function, 0)))
    throw unprintable_type{
        "its functions have another calling convention; give the type a name with 'typedef'"};
  std::string list;
  const auto add = [&list](const std::string& one) { list += (list.empty() ? "" : ", ") + one; };
  if (style_.hidden_top && is_worker_type(QualType(function, 0))) add("char *");
  const auto* proto = dyn_cast<FunctionProtoType>(function);
  if (proto == nullptr) return "()";
  const bool outer = std::exchange(in_prototype_, true);
  for (const QualType parameter : proto->param_types()) add(declare(parameter.getUnqualifiedType(), ""));
  in_prototype_ = outer;
  if (proto->isVariadic()) add("...");
  return "(" + (list.empty() ? "void" : list) + ")";
}

std::string type_writer::declare(QualType type, const std::string& name) {
  const ASTContext& context = style_.context;
  const std::string words = qualifiers(type);
  const Type* t = type.getTypePtr();
  switch (t->getTypeClass()) {
    case Type::Builtin: {
      PrintingPolicy policy(context.getLangOpts());
      policy.Bool = false;
      return with_words(words + cast<BuiltinType>(t)->getName(policy).str(), name);
    }
    case Type::Pointer: {
      const QualType pointee = t->getPointeeType();
      const Type* inner = pointee.getDesugaredType(context).getTypePtr();
      const bool wrap = inner->isArrayType() || inner->isFunctionType();
      std::string q = words;
      if (!q.empty() && name.empty()) q.pop_back();
      // A typedef of an array or function needs no parentheses, but they are harmless.
      const std::string inner_name = "*" + q + name;
      return declare(pointee, wrap ? "(" + inner_name + ")" : inner_name);
    }
    case Type::ConstantArray: {
      const auto* array_type = cast<ConstantArrayType>(t);
      return array(array_type->getElementType(), type, name,
                   llvm::toString(array_type->getSize(), 10, false));
    }
    case Type::IncompleteArray:
      return array(cast<IncompleteArrayType>(t)->getElementType(), type, name, "");
    case Type::VariableArray: {
      std::string length = "*";
      if (!in_prototype_) {
        if (style_.lengths == nullptr || next_length_ >= style_.lengths->size())
          throw unprintable_type{"it has a variable length"};
        length = (*style_.lengths)[next_length_++];
      }
      return array(cast<VariableArrayType>(t)->getElementType(), type, name, length);
    }
    case Type::FunctionProto:
    case Type::FunctionNoProto:
      return declare(cast<FunctionType>(t)->getReturnType(), name + parameters(cast<FunctionType>(t)));
    case Type::Record:
    case Type::Enum:
      return with_words(words + tag_words(cast<TagType>(t)->getDecl()), name);
    case Type::Typedef: {
      if (const std::string alias = alias_word(cast<TypedefType>(t)->getDecl()); !alias.empty())
        return with_words(words + alias, name);
      break;
    }
    case Type::Decayed:
      if (!is_va_list(cast<DecayedType>(t)->getOriginalType(), context)) break;
      return with_words(words + va_list_as_parameter, name);
    case Type::Complex:
      return with_words(words + "_Complex " + declare(cast<ComplexType>(t)->getElementType(), ""), name);
    case Type::Atomic:
      return with_words(words + "_Atomic(" + declare(cast<AtomicType>(t)->getValueType(), "") + ")", name);
    case Type::Vector:
    case Type::ExtVector: {
      const auto* vector = cast<VectorType>(t);
      const std::string element = declare(vector->getElementType(), "");
      return with_words(words + "__attribute__((vector_size(" + std::to_string(vector->getNumElements()) +
                            " * sizeof(" + element + ")))) " + element,
                        name);
    }
    case Type::BitInt:
      return with_words(words + (cast<BitIntType>(t)->isUnsigned() ? "unsigned " : "") + "_BitInt(" +
                            std::to_string(cast<BitIntType>(t)->getNumBits()) + ")",
                        name);
    default:
      break;
  }
  // Removes one step of sugar; the qualifiers around it remain.
  const QualType next = type.getSingleStepDesugaredType(context);
  if (next == type) throw unprintable_type{"its type cannot be written in a generated function"};
  return declare(next, name);
}

}  // namespace

std::string declare(QualType type, const std::string& name, const type_style& style) {
  return type_writer(style).declare(type, name);
}

bool has_const_members(QualType type, const ASTContext& context) {
  const auto* record = context.getBaseElementType(type)->getAs<RecordType>();
  const RecordDecl* definition = record != nullptr ? record->getDecl()->getDefinition() : nullptr;
  return definition != nullptr &&
         std::any_of(definition->field_begin(), definition->field_end(), [&](const FieldDecl* field) {
           return context.getBaseElementType(field->getType()).isConstQualified() ||
                  has_const_members(field->getType(), context);
         });
}

std::vector<std::string> variable_lengths(QualType type, std::string variable) {
  std::vector<std::string> lengths;
  while (type->isVariablyModifiedType()) {
    if (type->isPointerType()) {
      variable.insert(0, "(*").append(")");
      type = type->getPointeeType();
    } else if (const ArrayType* array = type->getAsArrayTypeUnsafe()) {
      if (isa<VariableArrayType>(array))
        // In GNU C a row may have size 0.
        lengths.emplace_back("sizeof ")
            .append(variable)
            .append(" / (sizeof ")
            .append(variable)
            .append("[0] + !sizeof ")
            .append(variable)
            .append("[0])");
      variable += "[0]";
      type = array->getElementType();
    } else {
      break;
    }
  }
  return lengths;
}

}  // namespace sukima::language
