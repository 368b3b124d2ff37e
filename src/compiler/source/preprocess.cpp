// SPDX-License-Identifier: Apache-2.0
#include "source/preprocess.hpp"

namespace sukima::language {
namespace {

using namespace clang;

class recorder : public PPCallbacks {
 public:
  recorder(Preprocessor& preprocessor, source_tokens& result)
      : preprocessor_(preprocessor), sources_(preprocessor.getSourceManager()), result_(result) {}

  bool in_system() const { return system_depth_ > 0; }

  void FileChanged(SourceLocation location, FileChangeReason reason, SrcMgr::CharacteristicKind kind,
                   FileID) override {
    if (reason == EnterFile) {
      // Once in a system header, everything below belongs to it.
      const bool real =
          !sources_.isWrittenInBuiltinFile(location) && !sources_.isWrittenInCommandLineFile(location);
      if (system_depth_ > 0 || (real && SrcMgr::isSystem(kind) && depth_ > 0)) ++system_depth_;
      ++depth_;
    } else if (reason == ExitFile) {
      if (system_depth_ > 0) --system_depth_;
      if (depth_ > 0) --depth_;
    }
  }

  void InclusionDirective(SourceLocation hash, const Token& include, StringRef name, bool angled,
                          CharSourceRange, OptionalFileEntryRef file, StringRef, StringRef, const Module*,
                          bool, SrcMgr::CharacteristicKind kind) override {
    if (file) {
      result_.files.push_back(file->getName().str());
      result_.file_is_system.push_back(SrcMgr::isSystem(kind) || in_system());
    }
    if (in_system() || !file || !SrcMgr::isSystem(kind)) return;
    std::string text;
    // The path in full where the meaning of the directive depends on the file that it stands in.
    if (include.getIdentifierInfo() != nullptr && include.getIdentifierInfo()->isStr("include_next"))
      text = "#include \"" + file->getName().str() + "\"";
    else
      text = angled ? "#include <" + name.str() + ">" : "#include \"" + name.str() + "\"";
    add(hash, std::move(text), true, false);
  }

  void MacroDefined(const Token& name, const MacroDirective* directive) override {
    const SourceLocation location = name.getLocation();
    if (in_system() || !is_in_file(location)) return;
    const MacroInfo* macro = directive->getMacroInfo();
    const SourceLocation end =
        Lexer::getLocForEndOfToken(macro->getDefinitionEndLoc(), 0, sources_, preprocessor_.getLangOpts());
    add(location, "#define " + text_between(macro->getDefinitionLoc(), end), true, true);
  }

  void MacroUndefined(const Token& name, const MacroDefinition&, const MacroDirective*) override {
    if (in_system() || !is_in_file(name.getLocation())) return;
    add(name.getLocation(), "#undef " + preprocessor_.getSpelling(name), true, true);
  }

  void PragmaDirective(SourceLocation location, PragmaIntroducerKind introducer) override {
    if (in_system() || location.isMacroID() || !is_in_file(location)) return;
    if (introducer == PIK_HashPragma) {
      std::string text = logical_line(location);
      if (text.find("once") != std::string::npos || text.find("system_header") != std::string::npos) return;
      add(location, std::move(text), true, false);
    } else if (introducer == PIK__Pragma) {
      std::string text = logical_line(location);
      const std::size_t end = text.find(')');
      if (end != std::string::npos) add(location, text.substr(0, end + 1), true, false);
    }
  }

  void add(SourceLocation location, std::string text, bool directive, bool changes_macro) {
    const auto before = static_cast<token_index>(result_.tokens.size());
    result_.texts.push_back({before, std::move(text), location, directive, changes_macro});
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

  /// The rest of the line, and of those that it goes on in behind a backslash.
  std::string logical_line(SourceLocation location) const {
    const char* at = sources_.getCharacterData(location);
    std::string text;
    for (; *at != '\0' && (*at != '\n' || (!text.empty() && text.back() == '\\')); ++at) text += *at;
    return text;
  }

  Preprocessor& preprocessor_;
  SourceManager& sources_;
  source_tokens& result_;
  int system_depth_ = 0;
  int depth_ = 0;
};

}  // namespace

source_tokens preprocess(CompilerInstance& compiler) {
  source_tokens result;
  Preprocessor& preprocessor = compiler.getPreprocessor();
  SourceManager& sources = compiler.getSourceManager();
  auto owned = std::make_unique<recorder>(preprocessor, result);
  recorder& callbacks = *owned;
  preprocessor.addPPCallbacks(std::move(owned));
  // Comments are kept: some compilers read "fallthrough" in them.
  preprocessor.SetCommentRetentionState(/*KeepComments=*/true, /*KeepMacroComments=*/false);
  if (const auto main = sources.getFileEntryRefForID(sources.getMainFileID())) {
    result.files.push_back(main->getName().str());
    result.file_is_system.push_back(false);
  }
  preprocessor.EnterMainSourceFile();
  Token token;
  do {
    preprocessor.Lex(token);
    if (token.is(tok::comment)) {
      if (!callbacks.in_system() && callbacks.is_in_file(token.getLocation()))
        callbacks.add(token.getLocation(), preprocessor.getSpelling(token), false, false);
      continue;
    }
    result.tokens.push_back(token);
    result.from_system.push_back(callbacks.in_system());
  } while (token.isNot(tok::eof));
  preprocessor.SetCommentRetentionState(false, false);
  return result;
}

}  // namespace sukima::language
