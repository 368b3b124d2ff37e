// SPDX-License-Identifier: Apache-2.0
#include "emit/types.hpp"

#include "frontend/facts.hpp"

namespace sukima::language {

using namespace clang;

namespace {

std::string qualifiers(QualType type) {
  std::string text;
  if (type.isLocalConstQualified()) text += "const ";
  if (type.isLocalVolatileQualified()) text += "volatile ";
  if (type.isLocalRestrictQualified()) text += "__restrict ";
  return text;
}

/// Name or declarator behind the words of a type.
std::string with_words(const std::string& words, const std::string& name) {
  return name.empty() ? words : words + " " + name;
}

std::string tag_words(const TagDecl* tag) {
  if (tag->getParentFunctionOrMethod() != nullptr)
    throw unprintable_type{"the type '" + tag->getNameAsString() +
                           "' is declared inside of the function; declare it outside of it"};
  const std::string kind = tag->getKindName().str();
  if (tag->getIdentifier() != nullptr) return kind + " " + tag->getNameAsString();
  if (const TypedefNameDecl* alias = tag->getTypedefNameForAnonDecl()) return alias->getNameAsString();
  throw unprintable_type{"the " + kind + " has no name; give it one"};
}

std::string parameters(const FunctionType* function, const ASTContext& context, bool hidden_top) {
  std::string list;
  const auto add = [&list](const std::string& one) { list += (list.empty() ? "" : ", ") + one; };
  if (hidden_top && is_worker_type(QualType(function, 0))) add("char *");
  const auto* proto = dyn_cast<FunctionProtoType>(function);
  if (proto == nullptr) return "()";
  for (const QualType parameter : proto->param_types())
    add(declare(parameter.getUnqualifiedType(), "", context, hidden_top));
  if (proto->isVariadic()) add("...");
  return "(" + (list.empty() ? "void" : list) + ")";
}

}  // namespace

std::string declare(QualType type, const std::string& name, const ASTContext& context, bool hidden_top) {
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
      // A typedef of an array or function needs no parentheses, but they do no harm.
      const std::string inner_name = "*" + q + name;
      return declare(pointee, wrap ? "(" + inner_name + ")" : inner_name, context, hidden_top);
    }
    case Type::ConstantArray:
      return declare(
          context.getQualifiedType(cast<ConstantArrayType>(t)->getElementType(), type.getLocalQualifiers()),
          name + "[" + llvm::toString(cast<ConstantArrayType>(t)->getSize(), 10, false) + "]", context,
          hidden_top);
    case Type::IncompleteArray:
      return declare(
          context.getQualifiedType(cast<IncompleteArrayType>(t)->getElementType(), type.getLocalQualifiers()),
          name + "[]", context, hidden_top);
    case Type::VariableArray:
      throw unprintable_type{"it has a variable length"};
    case Type::FunctionProto:
    case Type::FunctionNoProto:
      return declare(cast<FunctionType>(t)->getReturnType(),
                     name + parameters(cast<FunctionType>(t), context, hidden_top), context, hidden_top);
    case Type::Record:
    case Type::Enum:
      return with_words(words + tag_words(cast<TagType>(t)->getDecl()), name);
    case Type::Typedef: {
      const TypedefNameDecl* alias = cast<TypedefType>(t)->getDecl();
      if (alias->getParentFunctionOrMethod() == nullptr)
        return with_words(words + alias->getNameAsString(), name);
      break;
    }
    case Type::Complex:
      return with_words(
          words + "_Complex " + declare(cast<ComplexType>(t)->getElementType(), "", context, hidden_top),
          name);
    case Type::Atomic:
      return with_words(
          words + "_Atomic(" + declare(cast<AtomicType>(t)->getValueType(), "", context, hidden_top) + ")",
          name);
    case Type::Vector:
    case Type::ExtVector: {
      const auto* vector = cast<VectorType>(t);
      const std::string element = declare(vector->getElementType(), "", context, hidden_top);
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
  const QualType next = type.getSingleStepDesugaredType(context);
  if (next == type) throw unprintable_type{"its type cannot be written in a generated function"};
  return declare(next, name, context, hidden_top);
}

}  // namespace sukima::language
