// SPDX-License-Identifier: Apache-2.0
#include "check/clang_diagnostics.hpp"

#include <unistd.h>

#include <clang/Basic/CharInfo.h>
#include <clang/Basic/DiagnosticIDs.h>
#include <clang/Basic/DiagnosticLex.h>
#include <clang/Basic/DiagnosticParse.h>
#include <clang/Basic/DiagnosticSema.h>

#include "index/semantic_index.hpp"

namespace sukima::language {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// Replaces the names that desugaring inserted by the user's text.
std::string in_terms_of_the_language(std::string text) {
  replace_all(text, "struct sukima_task_", "task ");
  replace_all(text, "sukima_task_", "task ");
  replace_all(text, "'sukima_exec_", "'task_exec ");
  // 'long (int) __attribute__((preserve_most))' is the type of a worker function.
  const auto to_the_front = [&text](std::string_view attribute, const char* word) {
    for (std::size_t at = text.find(attribute); at != std::string::npos; at = text.find(attribute)) {
      text.erase(at, attribute.size());
      const std::size_t quote = text.rfind('\'', at == 0 ? 0 : at - 1);
      if (quote != std::string::npos) text.insert(quote + 1, word);
    }
  };
  to_the_front(" __attribute__((preserve_most))", "worker ");
  to_the_front(" __attribute__((preserve_all))", "closure ");
  to_the_front(" __attribute__((preserve_none))", "worker closure ");
  replace_all(text, "((*const))", "(*)");
  replace_all(text, "((*))", "(*)");
  replace_all(text, "worker worker ", "worker ");
  replace_all(text, "'preserve_most' calling convention", "'worker' type");
  replace_all(text, "preserve_most", "worker");
  if (text == "function declared 'worker' here was previously declared without calling convention")
    text = "this declaration has 'worker', and an earlier one does not; write 'worker' before both";
  // Desugaring passes the value of a closure's `return` to a function.
  const std::string_view result = "'sukima_result_";
  if (const std::size_t at = text.find(result); at != std::string::npos) {
    const std::size_t alias = text.find("' (aka '", at);
    if (alias != std::string::npos) {
      text.erase(at + 1, alias - at + 7);
      text.erase(text.find(')', at), 1);
    }
    replace_all(text, "passing ", "returning ");
    replace_all(text, " to parameter of incompatible type ",
                " from a closure with the incompatible result type ");
    replace_all(text, " to parameter of type ", " from a closure with the result type ");
  }
  if (text == "function definition is not allowed here")
    text += "; to nest a function, write 'closure' between its name and its parameters";
  if (text == "use of undeclared identifier 'spawn'" || text == "unknown type name 'spawn'")
    text += "; to spawn a call, write 'spawn' at the start of a statement in a 'join'";
  if (text == "use of undeclared identifier 'poll'") text += "; it is a statement, and ends with a semicolon";
  for (const std::string_view word : {"do_two", "dynamic_wind", "join", "try"})
    if (text == "use of undeclared identifier '" + std::string(word) + "'")
      text += "; it is a keyword only at the start of a statement and before a block";
  if (text == "use of undeclared identifier 'handles'" || text == "unknown type name 'handles'")
    text += "; write it after the blocks of a 'do_two' or of a parallel loop, for (int i : FROM, TO)";
  if (text == "unknown type name 'cluster'") text += "; write 'cluster worker' before the function";
  // Extensions that gcc has but Clang does not.
  for (const std::string_view only_gcc :
       {"'variable length array in structure'", "GNU decimal type extension",
        "of flexible array member is not allowed", "unsuitable for global register variables",
        "unknown type name '_Float", "use of undeclared identifier '_Float"})
    if (text.find(only_gcc) != std::string::npos)
      text += "; Clang 19 parses .tc files: move code that only gcc accepts to a .c file";
  return text;
}

enum class conversion { invalid, of_a_closure, of_a_worker, valid, of_c };

/// Returns whether a type contains the type of a worker function or a closure.
bool has_marks(clang::QualType type) {
  return type.getCanonicalType().getAsString().find("preserve_") != std::string::npos;
}

/// Returns the kind of conversion that Clang reports. Functions convert to pointers to closures; nothing else
/// does.
conversion conversion_of(const clang::Diagnostic& info) {
  using namespace clang;
  if (info.getNumArgs() < 3 || info.getArgKind(0) != DiagnosticsEngine::ak_qualtype ||
      info.getArgKind(1) != DiagnosticsEngine::ak_qualtype)
    return conversion::invalid;
  QualType types[] = {QualType::getFromOpaquePtr(reinterpret_cast<void*>(info.getRawArg(0))),
                      QualType::getFromOpaquePtr(reinterpret_cast<void*>(info.getRawArg(1)))};
  const auto action = static_cast<Sema::AssignmentAction>(info.getArgSInt(2));
  const bool target_first = action == Sema::AA_Assigning || action == Sema::AA_Initializing;
  const QualType target = types[target_first ? 0 : 1];
  const QualType source = types[target_first ? 1 : 0];
  if (!is_closure_type(target) && is_closure_type(source)) return conversion::of_a_closure;
  if (!has_marks(target) && !has_marks(source)) return conversion::of_c;
  if (!has_marks(target) && is_worker_type(source)) return conversion::of_a_worker;
  if (!is_closure_type(target) || is_closure_type(source) || is_worker_type(target) != is_worker_type(source))
    return conversion::invalid;
  const auto function = [](QualType type) {
    if (const auto* pointer = type->getAs<PointerType>()) type = pointer->getPointeeType();
    return type->getAs<FunctionProtoType>();
  };
  const FunctionProtoType* to = function(target);
  const FunctionProtoType* from = function(source);
  if (to == nullptr || from == nullptr) return to != nullptr ? conversion::valid : conversion::invalid;
  if (to->getReturnType().getCanonicalType() != from->getReturnType().getCanonicalType() ||
      to->getNumParams() != from->getNumParams() || to->isVariadic() != from->isVariadic())
    return conversion::invalid;
  for (unsigned k = 0; k < to->getNumParams(); ++k)
    if (to->getParamType(k).getCanonicalType().getUnqualifiedType() !=
        from->getParamType(k).getCanonicalType().getUnqualifiedType())
      return conversion::invalid;
  return conversion::valid;
}

/// Returns the text of the user's file from a place on; empty if there is no such text.
llvm::StringRef text_from(const clang::Diagnostic& info, clang::SourceLocation place) {
  if (!info.hasSourceManager() || place.isInvalid()) return {};
  const clang::SourceManager& sources = info.getSourceManager();
  const auto [file, offset] = sources.getDecomposedSpellingLoc(place);
  return sources.getBufferData(file).substr(offset);
}
llvm::StringRef text_from(const clang::Diagnostic& info) { return text_from(info, info.getLocation()); }

/// Returns the name at the beginning of the expression that a warning underlines.
std::string underlined_name(const clang::Diagnostic& info) {
  if (info.getNumRanges() == 0) return "";
  return text_from(info, info.getRange(0).getBegin())
      .take_while([](char c) { return clang::isAsciiIdentifierContinue(static_cast<unsigned char>(c)); })
      .str();
}

/// Returns whether a comment before a label declares an intended fall-through, in the form that gcc accepts.
bool follows_comment_about_falling(const clang::Diagnostic& info) {
  const clang::SourceManager& sources = info.getSourceManager();
  const auto [file, offset] = sources.getDecomposedSpellingLoc(info.getLocation());
  llvm::StringRef before = sources.getBufferData(file).substr(0, offset).rtrim();
  const std::size_t line = before.rfind('\n') + 1;  // line of the comment's end; 0 after npos
  std::size_t begin = before.substr(line).find("//");
  begin = begin != llvm::StringRef::npos ? line + begin : before.ends_with("*/") ? before.rfind("/*") : begin;
  if (begin == llvm::StringRef::npos) return false;
  std::string words = before.substr(begin).lower();
  std::erase_if(words, [](char c) { return c == ' ' || c == '-' || c == '_' || c == '\t'; });
  for (const char* const one : {"fallthrough", "fallthru", "fallsthrough", "fallsthru"})
    if (words.find(one) != std::string::npos) return true;
  return false;
}

/// Texts of warnings about inserted tokens. An entry applies unless the user's text there begins with
/// `written`.
struct put_in_text {
  std::string_view message;
  std::string_view written;
};
constexpr put_in_text put_in_texts[] = {
    {"'this'", "this"},
    {"was marked unused but was used", "never"},
    {"[[]] attributes are a C23 extension", "["},
    {"tokens introducing attribute", "["},
    {"tokens terminating attribute", "]"},
    {"use of GNU address-of-label extension", "&&"},
    {"redundant parentheses surrounding declarator", "("},
};

/// Returns whether a text begins with a call of a function without arguments.
bool calls_without_arguments(llvm::StringRef function, llvm::StringRef text) {
  return text.consume_front(function) && (text = text.ltrim()).consume_front("(") &&
         text.ltrim().starts_with(")");
}

/// Returns whether one of Clang's warnings is about tokens that desugaring inserted, or about extensions that
/// only gcc has.
bool is_about_the_unseen(const clang::Diagnostic& info, const std::string& text) {
  namespace diag = clang::diag;
  if (text.find("'sukima_") != std::string::npos) return true;
  const llvm::StringRef here = text_from(info);
  for (const put_in_text& one : put_in_texts)
    if (text.find(one.message) != std::string::npos && !here.starts_with(one.written)) return true;
  switch (info.getID()) {
    case diag::warn_pragma_ignored:
      return here.starts_with("GCC");
    case diag::warn_sometimes_uninit_var:  // the inserted path to a catch block
    case diag::warn_unreachable:
      return here.starts_with("try");
    case diag::warn_unannotated_fallthrough:
      return follows_comment_about_falling(info);
    case diag::ext_implicit_function_decl_c99:
    case diag::warn_implicit_function_decl:  // the language has its own error for it
      return calls_without_arguments("poll", here);
    case diag::warn_cast_calling_conv:  // this one, too
      return text.find("'preserve_") != std::string::npos;
    default:
      return false;
  }
}

/// Returns whether Clang's warning says that a variable has no value. In a closure, the variable may get a
/// value before the call.
bool is_about_values(const clang::Diagnostic& info) {
  const unsigned id = info.getID();
  return id == clang::diag::warn_uninit_var || id == clang::diag::warn_maybe_uninit_var ||
         id == clang::diag::warn_sometimes_uninit_var;
}

/// Returns whether Clang's warning says that an argument or result is null. The parser sees null as a
/// closure's value.
bool is_about_null(const clang::Diagnostic& info) {
  return info.getID() == clang::diag::warn_null_arg || info.getID() == clang::diag::warn_null_ret;
}

/// Returns whether Clang's warning says that some code never runs, or that every path of a function calls it.
bool is_about_paths(const clang::Diagnostic& info) {
  const unsigned id = info.getID();
  return id == clang::diag::warn_infinite_recursive_function || id == clang::diag::warn_unreachable ||
         id == clang::diag::warn_unreachable_break || id == clang::diag::warn_unreachable_loop_increment ||
         id == clang::diag::warn_unreachable_return;
}

/// Returns whether a warning is about a place in one of these blocks.
bool is_in(const std::vector<clang::SourceRange>& blocks, const clang::Diagnostic& info) {
  if (!info.hasSourceManager() || info.getLocation().isInvalid()) return false;
  const clang::SourceManager& sources = info.getSourceManager();
  const clang::SourceLocation place = info.getLocation();
  return std::any_of(blocks.begin(), blocks.end(), [&](const clang::SourceRange& block) {
    return place == block.getBegin() || (sources.isBeforeInTranslationUnit(block.getBegin(), place) &&
                                         sources.isBeforeInTranslationUnit(place, block.getEnd()));
  });
}

/// Returns the option of a warning, in the form that Clang prints.
std::string option_of(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) {
  const std::string group = clang::DiagnosticIDs::getWarningOptionForDiag(info.getID()).str();
  if (group.empty() || level == clang::DiagnosticsEngine::Note) return "";
  const bool promoted = level >= clang::DiagnosticsEngine::Error &&
                        clang::DiagnosticIDs::isBuiltinWarningOrExtension(info.getID()) &&
                        !clang::DiagnosticIDs::isDefaultMappingAsError(info.getID());
  return std::string(" [") + (promoted ? "-Werror," : "") + "-W" + group + "]";
}

}  // namespace

diagnostic_printer::diagnostic_printer(clang::DiagnosticsEngine::Level in_c,
                                       const std::vector<std::string>& options)
    : options_(new clang::DiagnosticOptions), level_in_c_(in_c) {
  const char* const no_colour = std::getenv("NO_COLOR");
  const bool by_default = isatty(STDERR_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0');
  options_->ShowColors = by_default;
  options_->ShowPresumedLoc = true;  // of #line directives
  for (const llvm::StringRef option : options) {
    llvm::StringRef value = option;
    if (value.consume_front("-fmax-errors=") || value.consume_front("-ferror-limit="))
      value.getAsInteger(10, most_errors_);  // the C compiler refuses another value
    else if (value.consume_front("-fdiagnostics-format="))
      set_format(value);
    else if (option == "-fdiagnostics-color=auto")
      options_->ShowColors = by_default;
    else if (option == "-fdiagnostics-color" || option == "-fdiagnostics-color=always" ||
             option == "-fcolor-diagnostics")
      options_->ShowColors = true;
    else if (option == "-fno-diagnostics-color" || option == "-fdiagnostics-color=never" ||
             option == "-fno-color-diagnostics")
      options_->ShowColors = false;
  }
}

diagnostic_printer::~diagnostic_printer() {
  if (json_) json_->print();
}

/// Follows -fdiagnostics-format=. The driver refuses other names.
void diagnostic_printer::set_format(llvm::StringRef name) {
  if (json_.reset(); name.starts_with("json")) json_.emplace();
  using options = clang::DiagnosticOptions;
  options_->setFormat(name == "msvc" ? options::MSVC : name == "vi" ? options::Vi : options::Clang);
}

void diagnostic_printer::BeginSourceFile(const clang::LangOptions& language, const clang::Preprocessor*) {
  language_ = &language;
  printer_ = std::make_unique<clang::TextDiagnostic>(llvm::errs(), language, options_.get());
}

/// Stores the position after a statement that leaves a closure. Clang does not know that this statement
/// leaves anything.
void diagnostic_printer::record_exit(const unit& u, token_index keyword) {
  SUKIMA_ASSERT(u.roles[keyword] == token_role::printed_only,
                "the parser does not see that a closure is left");
  token_index t = keyword;
  while (u.tokens[t].isNot(clang::tok::semi))
    t = u.partner[t] == no_token || u.partner[t] < t ? t + 1 : u.partner[t];
  do {
    ++t;
  } while (u.tokens[t].is(clang::tok::r_brace) || u.roles[t] == token_role::parsed_only);
  after_exits_.insert(u.tokens[t].getLocation());
}

void diagnostic_printer::record_blocks(const unit& u) {
  const auto add = [&u](std::vector<clang::SourceRange>& to, token_range block) {
    if (!block.empty())
      to.emplace_back(u.tokens[block.begin].getLocation(), u.tokens[block.end - 1].getLocation());
  };
  for (const closure_declaration& c : u.closures) {
    add(closures_, c.body);
    names_of_closures_.insert(c.name);
    for (const token_index keyword : c.returns) record_exit(u, keyword);
    for (const closure_jump& jump : c.jumps) record_exit(u, jump.keyword);
  }
  auto next = u.closures.begin();  // in the order of the text
  for (token_index t = 0; t < u.tokens.size(); ++t) {
    if (u.partner[t] == no_token || u.partner[t] < t) continue;
    const token_range outermost{t, u.partner[t] + 1};
    const auto first = next;
    while (next != u.closures.end() && next->name_token < outermost.end) ++next;
    if (next != first) add(around_closures_, outermost);
    t = u.partner[t];
  }
  for (const construct& c : u.constructs)
    for (const token_range& block : {c.put, c.get, c.after}) add(moved_blocks_, block);
}

/// Returns whether Clang's warning follows from paths that do not exist. The parser sees the block of a
/// closure at its declaration, as if it always ran there, and the blocks of a construct as if they ran one
/// after the other.
bool diagnostic_printer::is_about_wrong_paths(const clang::Diagnostic& info) const {
  return (info.getID() == clang::diag::warn_unannotated_fallthrough &&
          after_exits_.contains(info.getLocation())) ||
         (is_about_values(info) && is_in(closures_, info)) ||
         (is_about_null(info) && names_of_closures_.contains(underlined_name(info))) ||
         (is_about_paths(info) && (is_in(around_closures_, info) || is_in(moved_blocks_, info)));
}

/// Returns whether the message follows the last error that the user wants to see. The first such error is
/// replaced by a sentence.
bool diagnostic_printer::is_beyond_the_last_error(clang::DiagnosticsEngine::Level level) {
  if (most_errors_ == 0) return false;
  if (errors_ > most_errors_) return true;
  if (level < clang::DiagnosticsEngine::Error || ++errors_ <= most_errors_) return false;
  const std::string rest =
      "there are more errors; -fmax-errors=" + std::to_string(most_errors_) + " hides them";
  if (json_) return json_->add(level, {}, rest), true;
  llvm::errs() << "sukima cc: " << rest << '\n';
  return true;
}

void diagnostic_printer::EndSourceFile() { printer_.reset(); }

void diagnostic_printer::HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                                          const clang::Diagnostic& info) {
  using clang::DiagnosticsEngine;
  conversion how = conversion::invalid;
  const bool is_conversion = info.getID() == clang::diag::ext_typecheck_convert_incompatible_function_pointer;
  if (is_conversion) {
    how = conversion_of(info);
    level = how == conversion::of_c ? level_in_c_ : DiagnosticsEngine::Error;
    if (level == DiagnosticsEngine::Ignored) how = conversion::valid;
  }
  llvm::SmallString<128> text;
  info.FormatDiagnostic(text);
  std::string message = text.str().str();
  const bool is_warning = clang::DiagnosticIDs::isBuiltinWarningOrExtension(info.getID()) && !is_conversion;
  if (level == DiagnosticsEngine::Note
          ? last_was_dropped_ || info.getLocation().isInvalid()
          : how == conversion::valid || (is_warning && is_about_the_unseen(info, message)) ||
                is_about_wrong_paths(info)) {
    last_was_dropped_ = true;
    return;
  }
  // The parser may see a mistake twice, in the user's tokens and in inserted copies of them.
  const bool is_again = level >= DiagnosticsEngine::Error && info.getLocation().isValid() &&
                        std::exchange(last_error_, info.getLocation()) == info.getLocation();
  last_was_dropped_ = is_again || is_beyond_the_last_error(level);
  if (last_was_dropped_) return;
  DiagnosticConsumer::HandleDiagnostic(level, info);
  message = in_terms_of_the_language(std::move(message));
  if (info.getID() == clang::diag::err_attributes_not_allowed && !text_from(info).starts_with("["))
    message = "the parameters after 'closure' need types";
  if (is_warning || how == conversion::of_c) message += option_of(level, info);
  if (how == conversion::of_a_closure) message += "; a closure does not convert to a plain function";
  if (how == conversion::of_a_worker)
    message += "; only the name of a worker function converts to a plain function, by a cast";
  const bool has_place = info.hasSourceManager() && info.getLocation().isValid();
  const clang::FullSourceLoc place =
      has_place ? clang::FullSourceLoc(info.getLocation(), info.getSourceManager()) : clang::FullSourceLoc();
  if (json_) return json_->add(level, place, message);
  if (printer_ == nullptr || !has_place) {
    const char* const kind = level >= DiagnosticsEngine::Error ? "error: " : "warning: ";
    llvm::errs() << "sukima cc: " << kind << message << "\n";
    return;
  }
  printer_->emitDiagnostic(place, level, message, info.getRanges(), info.getFixItHints());
}

}  // namespace sukima::language
