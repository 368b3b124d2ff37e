// SPDX-License-Identifier: Apache-2.0
#include "source/preprocess.hpp"

#include "source/backend_macros.hpp"
#include "source/pragmas.hpp"
#include "source/report.hpp"

namespace sukima::language {
namespace {

using namespace clang;

class recorder : public PPCallbacks {
 public:
  recorder(Preprocessor& preprocessor, const std::vector<predefined_macro>& macros, bool lists_missing_files,
           source_tokens& result)
      : preprocessor_(preprocessor),
        sources_(preprocessor.getSourceManager()),
        result_(result),
        lists_missing_files_(lists_missing_files),
        macros_(preprocessor, macros) {}

  bool in_system() const { return system_depth_ > 0; }

  void FileChanged(SourceLocation location, FileChangeReason reason, SrcMgr::CharacteristicKind kind,
                   FileID) override {
    if (reason == EnterFile) {
      // Everything that a system header includes belongs to it.
      const bool real =
          !sources_.isWrittenInBuiltinFile(location) && !sources_.isWrittenInCommandLineFile(location);
      if (system_depth_ > 0 || (real && SrcMgr::isSystem(kind) && depth_ > 0)) ++system_depth_;
      ++depth_;
    } else if (reason == ExitFile) {
      if (system_depth_ > 0) --system_depth_;
      if (depth_ > 0) --depth_;
    }
    // Clang enters the main file before the text in which it defines its macros.
    const bool is_file =
        !sources_.isWrittenInBuiltinFile(location) && !sources_.isWrittenInCommandLineFile(location);
    if (is_file && (reason == ExitFile || depth_ > 1)) macros_.enter(!in_system());
  }

  /// \returns whether the directive is accepted
  bool FileNotFound(StringRef) override { return lists_missing_files_; }

  void InclusionDirective(SourceLocation hash, const Token& include, StringRef name, bool angled,
                          CharSourceRange, OptionalFileEntryRef file, StringRef, StringRef, const Module*,
                          bool, SrcMgr::CharacteristicKind kind) override {
    if (file) {
      const std::string folder = folder_beside(hash);
      if (!angled && !folder.empty() && file->getName() == folder + name.str())
        result_.bare_files.insert(file->getName().str());
      result_.files.push_back(file->getName().str());
      result_.file_is_system.push_back(SrcMgr::isSystem(kind) || in_system());
    }
    if (!file && lists_missing_files_) {
      result_.files.push_back(name.str());
      result_.file_is_system.push_back(angled || in_system());
    }
    if (in_system() || !file || !SrcMgr::isSystem(kind)) return;
    std::string text;
    // Writes the full path if the meaning of the directive depends on the file that contains it.
    if (include.getIdentifierInfo() != nullptr && include.getIdentifierInfo()->isStr("include_next"))
      text = "#include \"" + file->getName().str() + "\"";
    else
      text = angled ? "#include <" + name.str() + ">" : "#include \"" + name.str() + "\"";
    add(hash, std::move(text), true, false);
  }

  void MacroDefined(const Token& name, const MacroDirective* directive) override {
    const SourceLocation location = name.getLocation();
    if (in_system() || !is_in_file(location)) return;
    macros_.keep(name.getIdentifierInfo());
    const MacroInfo* macro = directive->getMacroInfo();
    const SourceLocation end =
        Lexer::getLocForEndOfToken(macro->getDefinitionEndLoc(), 0, sources_, preprocessor_.getLangOpts());
    add(location, "#define " + text_between(macro->getDefinitionLoc(), end), true, true);
  }

  void MacroUndefined(const Token& name, const MacroDefinition&, const MacroDirective*) override {
    if (in_system() || !is_in_file(name.getLocation())) return;
    macros_.keep(name.getIdentifierInfo());
    add(name.getLocation(), "#undef " + preprocessor_.getSpelling(name), true, true);
  }

  void MacroExpands(const Token& name, const MacroDefinition& definition, SourceRange,
                    const MacroArgs* arguments) override {
    if (in_system() || name.getIdentifierInfo() == nullptr) return;
    const MacroInfo* macro = definition.getMacroInfo();
    if (name.getIdentifierInfo()->isStr("__COUNTER__"))
      result_.counters.insert(sources_.getExpansionLoc(name.getLocation()).getRawEncoding());
    if (macro == nullptr || macro->isBuiltinMacro() || !sources_.isInSystemHeader(macro->getDefinitionLoc()))
      return;
    if (macro->isFunctionLike() && arguments == nullptr) return;  // in a directive within other arguments
    system_macro_use use{name.getIdentifierInfo()->getName().str(), macro->isFunctionLike(), {}};
    const unsigned count = arguments == nullptr ? 0 : arguments->getNumMacroArguments();
    for (unsigned k = 0; k < count; ++k) {
      if (k + 1 == count && arguments->isVarargsElidedUse()) continue;
      std::vector<SourceLocation>& tokens = use.arguments.emplace_back();
      for (const Token* token = arguments->getUnexpArgument(k); token->isNot(tok::eof); ++token)
        tokens.push_back(token->getLocation());
    }
    result_.system_macros.insert_or_assign(name.getLocation().getRawEncoding(), std::move(use));
  }

  void EmbedDirective(SourceLocation hash, StringRef, bool, OptionalFileEntryRef,
                      const LexEmbedParametersResult&) override {
    report_error(preprocessor_.getDiagnostics(), hash,
                 "'#embed' is not supported in .tc files; write an array of the numbers that 'xxd -i "
                 "FILE' prints");
  }

  void PragmaDirective(SourceLocation location, PragmaIntroducerKind introducer) override {
    if (in_system() || introducer != PIK_HashPragma || !is_in_file(location)) return;
    last_pragma_ = read_pragma(preprocessor_, location);
    add(text_of_pragma(last_pragma_, location));
  }

  /// Returns whether the last pragma line that was read has inserted this token.
  bool is_of_pragma(const Token& token) const {
    return token.isAnnotation() || last_pragma_.holds(sources_, token.getLocation());
  }

  void add(side_text text) {
    if (text.text.empty()) return;
    text.before = static_cast<token_index>(result_.tokens.size());
    result_.texts.push_back(std::move(text));
  }

  void add(SourceLocation location, std::string text, bool directive, bool changes_macro) {
    add(side_text{0, std::move(text), location, directive, changes_macro});
  }

  /// Returns the folder in Clang's names of headers beside this file, if it begins with a `./` that gcc
  /// omits; otherwise empty.
  std::string folder_beside(SourceLocation location) const {
    const auto file = sources_.getFileEntryRefForID(sources_.getFileID(location));
    if (!file) return "";
    const std::string name = file->getName().str();
    if (name.find('/') == std::string::npos) return "./";
    return result_.bare_files.contains(name) ? name.substr(0, name.rfind('/') + 1) : "";
  }

  bool is_in_file(SourceLocation location) const {
    return location.isValid() && location.isFileID() && !sources_.isWrittenInBuiltinFile(location) &&
           !sources_.isWrittenInCommandLineFile(location) && !sources_.isWrittenInScratchSpace(location);
  }

 private:
  std::string text_between(SourceLocation begin, SourceLocation end) const {
    return Lexer::getSourceText(CharSourceRange::getCharRange(begin, end), sources_,
                                preprocessor_.getLangOpts())
        .str();
  }

  Preprocessor& preprocessor_;
  SourceManager& sources_;
  source_tokens& result_;
  bool lists_missing_files_;
  int system_depth_ = 0;
  int depth_ = 0;
  pragma_line last_pragma_{};
  backend_macros macros_;
};

/// Reads the tokens of the unit. While it exists, `_Pragma` is an ordinary word: macros expand to it at its
/// place among their tokens, and then Clang executes it.
class reader {
 public:
  reader(Preprocessor& preprocessor, recorder& callbacks, source_tokens& result)
      : preprocessor_(preprocessor),
        callbacks_(callbacks),
        result_(result),
        pragma_(preprocessor.getIdentifierInfo("_Pragma")) {}

  void run() {
    pragma_->setHasMacroDefinition(false);
    Token token;
    do {
      next(token);
      if (token.getIdentifierInfo() == pragma_ && token.is(tok::identifier))
        pragma_operator(token);
      else
        push(token, callbacks_.is_of_pragma(token));
    } while (token.isNot(tok::eof));
    pragma_->setHasMacroDefinition(true);
  }

 private:
  /// Reads the next token that is not a comment.
  void next(Token& token) {
    for (preprocessor_.Lex(token); token.is(tok::comment); preprocessor_.Lex(token))
      if (!callbacks_.in_system() && callbacks_.is_in_file(token.getLocation()))
        callbacks_.add(token.getLocation(), preprocessor_.getSpelling(token), false, false);
  }

  void push(const Token& token, bool of_pragma) {
    SUKIMA_ASSERT(token.isNot(tok::comment), "comments are texts between the tokens");
    result_.tokens.push_back(token);
    result_.from_system.push_back(callbacks_.in_system());
    result_.of_pragma.push_back(of_pragma);
  }

  /// Reads `_Pragma ( STRING )`, whose first token was read. The parser's tokens for the pragma follow as
  /// annotations.
  void pragma_operator(Token& token) {
    std::vector<Token> words{token};
    for (const bool is_string : {false, true, false}) {
      next(token);
      const bool fits = is_string ? tok::isStringLiteral(token.getKind())
                                  : token.is(words.size() == 1 ? tok::l_paren : tok::r_paren);
      if (!fits) {
        report_error(preprocessor_.getDiagnostics(), words[0].getLocation(),
                     "_Pragma takes a parenthesized string literal");
        return push(token, false);
      }
      words.push_back(token);
    }
    if (!callbacks_.in_system())
      callbacks_.add(text_of_pragma_operator(preprocessor_.getLangOpts(), preprocessor_.getSpelling(words[2]),
                                             words[0].getLocation()));
    Token end;
    end.startToken();
    end.setKind(tok::semi);
    end.setLocation(words[3].getLocation());
    words.push_back(end);
    pragma_->setHasMacroDefinition(true);
    preprocessor_.EnterTokenStream(words, /*DisableMacroExpansion=*/false, /*IsReinject=*/false);
    for (next(token); token.isNot(tok::semi) || token.getLocation() != end.getLocation(); next(token))
      push(token, true);
    pragma_->setHasMacroDefinition(false);
  }

  Preprocessor& preprocessor_;
  recorder& callbacks_;
  source_tokens& result_;
  IdentifierInfo* pragma_;
};

}  // namespace

source_tokens preprocess(CompilerInstance& compiler, const std::vector<predefined_macro>& macros,
                         bool lists_missing_files) {
  source_tokens result;
  Preprocessor& preprocessor = compiler.getPreprocessor();
  SourceManager& sources = compiler.getSourceManager();
  auto owned = std::make_unique<recorder>(preprocessor, macros, lists_missing_files, result);
  recorder& callbacks = *owned;
  preprocessor.addPPCallbacks(std::move(owned));
  // Keeps comments, because some compilers look for "fallthrough" in them.
  preprocessor.SetCommentRetentionState(/*KeepComments=*/true, /*KeepMacroComments=*/false);
  if (const auto main = sources.getFileEntryRefForID(sources.getMainFileID())) {
    result.files.push_back(main->getName().str());
    result.file_is_system.push_back(false);
  }
  preprocessor.EnterMainSourceFile();
  reader(preprocessor, callbacks, result).run();
  preprocessor.SetCommentRetentionState(false, false);
  SUKIMA_ASSERT(!callbacks.in_system(), "each file that was entered was left");
  SUKIMA_ASSERT_VALID(result);
  return result;
}

}  // namespace sukima::language
