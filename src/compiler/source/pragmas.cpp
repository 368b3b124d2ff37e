// SPDX-License-Identifier: Apache-2.0
#include "source/pragmas.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Returns whether the pragma applies to the file, as `once` does. It is not repeated, because the output is
/// another file.
bool is_about_the_file(const std::vector<std::string>& words) {
  if (words.empty()) return true;
  return words[0] == "once" ||
         (words.size() > 1 && (words[0] == "GCC" || words[0] == "clang") && words[1] == "system_header");
}

/// Returns whether the pragma saves or restores a macro. Like #define, it is not repeated in copies of the
/// text.
bool is_about_macros(const std::vector<std::string>& words) {
  return words[0] == "push_macro" || words[0] == "pop_macro";
}

/// Returns whether the pragma applies to the statement that follows.
bool is_about_a_statement(const std::vector<std::string>& words) {
  static const std::set<std::string_view> alone{"omp",  "acc", "unroll", "nounroll", "unroll_and_jam",
                                                "ivdep"};
  static const std::set<std::string_view> of_gcc{"unroll", "nounroll", "ivdep", "novector"};
  if (alone.contains(words[0])) return true;
  if (words.size() < 2) return false;
  return (words[0] == "GCC" && of_gcc.contains(words[1])) || (words[0] == "clang" && words[1] == "loop");
}

/// Returns the content as a string literal of C.
std::string quoted(const std::string& content) {
  std::string text = "\"";
  for (const char c : content) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

/// Returns the content of a string literal of C, as `_Pragma` reads it.
std::string unquoted(const std::string& string) {
  std::string text;
  const std::size_t first = string.find('"');
  for (std::size_t k = first + 1; k + 1 < string.size(); ++k) {
    if (string[k] == '\\' && (string[k + 1] == '"' || string[k + 1] == '\\')) ++k;
    text += string[k];
  }
  return text;
}

/// Adds the tokens of a lexer to a line, up to the line's end.
void read_words(Lexer& lexer, const LangOptions& language, pragma_line& line) {
  Token token;
  bool is_first = true;
  for (lexer.LexFromRawLexer(token); token.isNot(tok::eof) && (is_first || !token.isAtStartOfLine());
       lexer.LexFromRawLexer(token)) {
    is_first = false;
    const char* const end = lexer.getBufferLocation();
    std::string word;
    if (token.needsCleaning()) {
      const char* at = end - token.getLength();
      while (at < end) {
        const Lexer::SizedChar c = Lexer::getCharAndSizeNoWarn(at, language);
        word += c.Char;
        at += c.Size;
      }
    } else {
      word.assign(end - token.getLength(), end);
    }
    line.words.push_back(std::move(word));
    line.spaces.push_back(token.hasLeadingSpace());
    line.end = lexer.getCurrentBufferOffset();
  }
}

std::string joined(const pragma_line& line) {
  SUKIMA_ASSERT(line.words.size() == line.spaces.size(),
                "each word of a pragma has a space before it or none");
  std::string text;
  for (std::size_t k = 0; k < line.words.size(); ++k)
    text += (k > 0 && line.spaces[k] ? " " : "") + line.words[k];
  return text;
}

/// \param pragma  the same as a `_Pragma`
side_text pragma_text(const pragma_line& line, std::string text, std::string pragma,
                      SourceLocation location) {
  if (is_about_the_file(line.words)) return {0, "", location, true, false};
  side_text result{0, std::move(text), location, true, is_about_macros(line.words)};
  if (!result.changes_macro) result.pragma = std::move(pragma);
  result.is_of_statement = is_about_a_statement(line.words);
  return result;
}

}  // namespace

bool pragma_line::holds(const SourceManager& sources, SourceLocation location) const {
  if (file.isInvalid() || location.isInvalid()) return false;
  const auto [in, offset] = sources.getDecomposedExpansionLoc(location);
  return in == file && begin <= offset && offset < end;
}

pragma_line read_pragma(const Preprocessor& preprocessor, SourceLocation hash) {
  const SourceManager& sources = preprocessor.getSourceManager();
  const auto [file, offset] = sources.getDecomposedLoc(hash);
  const StringRef buffer = sources.getBufferData(file);
  Lexer lexer(sources.getLocForStartOfFile(file), preprocessor.getLangOpts(), buffer.begin(),
              buffer.begin() + offset, buffer.end());
  pragma_line line{{}, {}, file, offset, offset};
  read_words(lexer, preprocessor.getLangOpts(), line);
  const auto words = std::min<std::size_t>(2, line.words.size());  // # pragma
  line.words.erase(line.words.begin(), line.words.begin() + static_cast<std::ptrdiff_t>(words));
  line.spaces.erase(line.spaces.begin(), line.spaces.begin() + static_cast<std::ptrdiff_t>(words));
  return line;
}

side_text text_of_pragma(const pragma_line& line, SourceLocation location) {
  const std::string content = joined(line);
  return pragma_text(line, "#pragma " + content, "_Pragma(" + quoted(content) + ")", location);
}

side_text text_of_pragma_operator(const LangOptions& language, const std::string& string,
                                  SourceLocation location) {
  const std::string content = unquoted(string);
  Lexer lexer(SourceLocation(), language, content.c_str(), content.c_str(), content.c_str() + content.size());
  pragma_line line{{}, {}, FileID(), 0, 0};
  read_words(lexer, language, line);
  return pragma_text(line, "_Pragma(" + string + ")", "_Pragma(" + string + ")", location);
}

}  // namespace sukima::language
