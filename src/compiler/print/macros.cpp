// SPDX-License-Identifier: Apache-2.0
#include "print/macros.hpp"

#include "print/marks.hpp"

namespace sukima::language {

using namespace clang;

namespace {

enum class macro_kind : std::uint8_t { none, object, function };

/// The macros at a place of the output: those of the output's own directives, and those of system headers and
/// of the command line, which may exist there.
class macro_table {
 public:
  explicit macro_table(CompilerInstance& compiler)
      : preprocessor_(compiler.getPreprocessor()), sources_(compiler.getSourceManager()) {}

  void set(const std::string& name, macro_kind kind) { known_[name] = kind; }
  void push(const std::string& name) { saved_[name].push_back(kind_of(name)); }
  void pop(const std::string& name) {
    std::vector<macro_kind>& kinds = saved_[name];
    if (kinds.empty()) return;
    known_[name] = kinds.back();
    kinds.pop_back();
  }

  macro_kind kind_of(const std::string& name) {
    const auto [found, is_new] = known_.emplace(name, macro_kind::none);
    if (is_new) found->second = kind_outside(name);
    return found->second;
  }

 private:
  macro_kind kind_outside(const std::string& name) const {
    const StringRef prefix = StringRef(name).take_front(7);
    if (prefix.equals_insensitive("sukima_")) return macro_kind::none;  // macros of the language's own header
    const auto known = preprocessor_.getIdentifierTable().find(name);
    if (known == preprocessor_.getIdentifierTable().end() || !known->second->hadMacroDefinition())
      return macro_kind::none;
    for (const MacroDirective* d = preprocessor_.getLocalMacroDirectiveHistory(known->second); d != nullptr;
         d = d->getPrevious()) {
      const auto* definition = dyn_cast<DefMacroDirective>(d);
      if (definition == nullptr) continue;
      const MacroInfo* macro = definition->getInfo();
      const SourceLocation location = macro->getDefinitionLoc();
      const bool is_outside =
          sources_.isInSystemHeader(location) || sources_.isWrittenInCommandLineFile(location);
      if (macro->isBuiltinMacro() || !is_outside || sources_.isWrittenInBuiltinFile(location)) continue;
      if (macro->isFunctionLike()) return macro_kind::function;
      const bool is_itself =
          macro->getNumTokens() == 1 && macro->getReplacementToken(0).getIdentifierInfo() == known->second;
      if (!is_itself) return macro_kind::object;
    }
    return macro_kind::none;
  }

  const Preprocessor& preprocessor_;
  const SourceManager& sources_;
  std::unordered_map<std::string, macro_kind> known_;
  std::unordered_map<std::string, std::vector<macro_kind>> saved_;
};

/// One pass over the output's text.
class separator {
 public:
  separator(CompilerInstance& compiler, const std::string& text, bool line_directives)
      : text_(text),
        line_directives_(line_directives),
        lexer_(SourceLocation(), compiler.getLangOpts(), text.c_str(), text.c_str(),
               text.c_str() + text.size()),
        macros_(compiler),
        copied_(text.c_str()) {}

  std::string run() {
    next();
    while (token_.isNot(tok::eof)) {
      if (token_.is(tok::hash) && token_.isAtStartOfLine() && !in_written_) {
        directive();
        continue;
      }
      if (is_mark(*begin_) && token_.getLength() == 1)
        mark();
      else if (token_.is(tok::raw_identifier) && !in_written_ && !in_call_)
        put_away({word()});
      next();
    }
    SUKIMA_ASSERT(!in_written_ && in_call_ == 0, "each mark that begins something has one that ends it");
    copy_to(text_.c_str() + text_.size());
    return std::move(result_);
  }

 private:
  void next() {
    lexer_.LexFromRawLexer(token_);
    begin_ = lexer_.getBufferLocation() - token_.getLength();
  }
  std::string word() const { return {begin_, token_.getLength()}; }

  void copy_to(const char* end) {
    SUKIMA_ASSERT(copied_ <= end, "the text is copied in its order");
    line_ += static_cast<unsigned>(std::count(copied_, end, '\n'));
    result_.append(copied_, end);
    copied_ = end;
  }

  /// Continues with text of the same user's line as before.
  void go_on() {
    if (line_directives_ && !file_.empty()) result_ += "#line " + std::to_string(line_) + " " + file_ + "\n";
  }

  void begin_line() {
    if (!result_.empty() && result_.back() != '\n') result_ += '\n';
  }

  /// Returns whether the C compiler would expand the name that ends here.
  bool expands(const std::string& name, const char* end) {
    if (std::find(away_.begin(), away_.end(), name) != away_.end()) return false;
    const macro_kind kind = macros_.kind_of(name);
    while (*end == ' ' || *end == '\n' || is_mark(*end)) ++end;
    return kind == macro_kind::object || (kind == macro_kind::function && *end == '(');
  }

  /// Puts away the definition of the current name if it has one.
  void put_away(const std::string& name) {
    if (!expands(name, lexer_.getBufferLocation())) return;
    copy_to(begin_);
    put_away(std::vector<std::string>{name});
  }
  void put_away(const std::vector<std::string>& names) {
    if (names.empty()) return;
    begin_line();
    for (const std::string& name : names) {
      SUKIMA_ASSERT(std::find(away_.begin(), away_.end(), name) == away_.end(),
                    "a definition is put away once until it is restored");
      result_.append("#pragma push_macro(\"").append(name).append("\")\n#undef ").append(name).append("\n");
      away_.push_back(name);
    }
    go_on();
  }

  void restore(const char* before) {
    if (away_.empty()) return;
    copy_to(before);
    begin_line();
    for (const std::string& name : away_) result_.append("#pragma pop_macro(\"").append(name).append("\")\n");
    away_.clear();
    go_on();
  }

  void mark() {
    const char c = *begin_;
    if ((c == written_begin || c == call_begin) && in_call_ == 0) restore(begin_);
    copy_to(begin_);
    ++copied_;
    if (c == written_begin) in_written_ = true;
    if (c == written_end) in_written_ = false;
    if (c == call_begin && in_call_++ == 0) begin_call();
    SUKIMA_ASSERT(c != call_end || in_call_ > 0, "a mark ends a call that has begun");
    if (c == call_end) --in_call_;
  }

  /// Puts definitions away before a macro call, because no directive may be among its arguments.
  void begin_call() {
    const char* const here = lexer_.getBufferLocation();
    std::vector<std::string> names;
    const Token first = token_;
    bool written = false;
    for (int depth = 1; depth > 0 && token_.isNot(tok::eof);) {
      next();
      if (token_.is(tok::raw_identifier) && !written && expands(word(), lexer_.getBufferLocation()) &&
          std::find(names.begin(), names.end(), word()) == names.end())
        names.push_back(word());
      if (token_.getLength() != 1) continue;
      depth += *begin_ == call_begin ? 1 : *begin_ == call_end ? -1 : 0;
      written = *begin_ == written_begin || (written && *begin_ != written_end);
    }
    put_away(names);
    lexer_.seek(static_cast<unsigned>(here - text_.c_str()), false);
    token_ = first;
  }

  /// Reads a directive, up to the first token of the next line.
  void directive() {
    const char* const hash = begin_;
    std::vector<Token> tokens;
    std::vector<std::string> words;
    for (next(); token_.isNot(tok::eof) && !token_.isAtStartOfLine(); next()) {
      tokens.push_back(token_);
      words.push_back(word());
    }
    if (words.empty()) return;
    if (words[0] == "line") {
      // The writer's directive is one line: `#line NUMBER "FILE"`.
      copy_to(std::find(hash, text_.c_str() + text_.size(), '\n'));
      line_ = static_cast<unsigned>(std::stoul(words.at(1))) - 1;
      file_ = words.at(2);
      return;
    }
    restore(hash);
    note(tokens, words);
  }

  /// Records how a directive changes macros.
  void note(const std::vector<Token>& tokens, const std::vector<std::string>& words) {
    if (words.size() < 2) return;
    if (words[0] == "undef") macros_.set(words[1], macro_kind::none);
    if (words[0] == "define") {
      const bool is_function = words.size() > 2 && words[2] == "(" && !tokens[2].hasLeadingSpace();
      const bool is_itself = words.size() == 3 && words[2] == words[1];
      macros_.set(words[1], is_function ? macro_kind::function
                            : is_itself ? macro_kind::none
                                        : macro_kind::object);
    }
    if (words[0] != "pragma" || words.size() < 4 || words[3].size() < 2) return;
    const std::string name = words[3].substr(1, words[3].size() - 2);
    if (words[1] == "push_macro") macros_.push(name);
    if (words[1] == "pop_macro") macros_.pop(name);
  }

  const std::string& text_;
  bool line_directives_;
  Lexer lexer_;
  macro_table macros_;
  Token token_;
  const char* begin_ = nullptr;  ///< start of the token
  const char* copied_;  ///< end of the text that has been copied to the result
  std::string result_;
  std::vector<std::string> away_;
  std::string file_;  ///< in quotes
  unsigned line_ = 0;
  bool in_written_ = false;
  int in_call_ = 0;
};

}  // namespace

std::string without_second_expansion(CompilerInstance& compiler, const std::string& text,
                                     bool line_directives) {
  return separator(compiler, text, line_directives).run();
}

}  // namespace sukima::language
