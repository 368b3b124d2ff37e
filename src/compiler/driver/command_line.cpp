// SPDX-License-Identifier: Apache-2.0
#include "driver/command_line.hpp"

#include <algorithm>
#include <array>
#include <base/shared/assert.hpp>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "driver/dependencies.hpp"
#include "driver/response_file.hpp"
#include "translate.hpp"

namespace sukima::language {
namespace {

struct option_form {
  std::string_view name;
  word_use use;
  bool in_front;
};

/// Options whose argument may be the next word or joined to the option.
constexpr std::array with_argument{
    option_form{"-I", word_use::compile, true},
    option_form{"-D", word_use::compile, true},
    option_form{"-U", word_use::compile, true},
    option_form{"-isystem", word_use::compile, true},
    option_form{"-iquote", word_use::compile, true},
    option_form{"-idirafter", word_use::compile, true},
    option_form{"-include", word_use::compile, true},
    option_form{"-imacros", word_use::compile, true},
    option_form{"-isysroot", word_use::compile, true},
    option_form{"--sysroot", word_use::compile, true},
    option_form{"-iprefix", word_use::compile, true},
    option_form{"-iwithprefix", word_use::compile, true},
    option_form{"-L", word_use::link, false},
    option_form{"-l", word_use::link, false},
    option_form{"-T", word_use::link, false},
    option_form{"-u", word_use::link, false},
    option_form{"-z", word_use::link, false},
    option_form{"-Xlinker", word_use::link, false},
    option_form{"-Xassembler", word_use::compile, false},
    option_form{"-Xclang", word_use::compile, false},
    option_form{"-mllvm", word_use::compile, false},
    option_form{"--param", word_use::compile, false},
    option_form{"-aux-info", word_use::compile, false},
    option_form{"-A", word_use::compile, false},
    option_form{"-B", word_use::compile, false},
    option_form{"-target", word_use::compile, false},
    option_form{"-arch", word_use::compile, false},
    option_form{"-dumpbase", word_use::compile, false},
    option_form{"-dumpdir", word_use::compile, false},
    option_form{"-G", word_use::compile, false},
    option_form{"-e", word_use::link, false},
};

/// Returns whether -fsanitize= names only sanitizers that Clang also has, so that __has_feature can be true.
bool is_sanitizer_for_front(std::string_view option) {
  constexpr std::string_view begin = "-fsanitize=";
  if (!option.starts_with(begin)) return false;
  for (std::string_view rest = option.substr(begin.size()); !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    if (one != "address" && one != "thread" && one != "undefined" && one != "leak" && one != "memory")
      return false;
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  return true;
}

constexpr std::string_view message_format = "-fdiagnostics-format=";  // the front end follows it
constexpr std::array message_formats{"text", "clang", "json", "json-stderr", "msvc", "vi"};

/// Returns whether Clang's front end needs this option, which has no argument.
bool is_for_front(std::string_view option) {
  for (const std::string_view prefix : {"-std=",
                                        "-m",
                                        "-O",
                                        "-ansi",
                                        "-pthread",
                                        "-nostdinc",
                                        "-trigraphs",
                                        "-fsigned-char",
                                        "-funsigned-char",
                                        "-fno-signed-char",
                                        "-fshort-",
                                        "-fms-extensions",
                                        "-fgnu89-inline",
                                        "-ffreestanding",
                                        "-fno-builtin",
                                        "-fwrapv",
                                        "-ftrapv",
                                        "-fPI",  // -fPIC, -fPIE; below the same in small letters
                                        "-fpi",
                                        "-fno-pi",
                                        "--sysroot="})
    if (option.starts_with(prefix)) return option != "-mllvm" && !option.starts_with("-mtune");
  return is_sanitizer_for_front(option) || option.starts_with("-fmax-errors=") ||
         option.starts_with(message_format) || option.starts_with("-ferror-limit=") ||
         option.find("diagnostics-color") != option.npos || option.find("color-diagnostics") != option.npos;
}

/// Returns whether an option is about warnings. Warnings about the generated C do not concern the user.
bool is_about_warnings(std::string_view option) {
  if (option.starts_with("-Wa,") || option.starts_with("-Wp,") || option.starts_with("-Wl,")) return false;
  return option.starts_with("-W") || option == "-w" || option.starts_with("-pedantic");
}

bool is_for_link(std::string_view option) {
  for (const std::string_view name :
       {"-shared", "-static", "-rdynamic", "-pie", "-no-pie", "-static-pie", "-s", "-nostartfiles",
        "-static-libgcc", "-static-libstdc++", "-symbolic"})
    if (option == name) return true;
  return option.starts_with("-Wl,") || option.starts_with("-fuse-ld=") || option.starts_with("--ld-path=");
}

/// Sorts the words of a command line by their use.
class command_line_parser {
 public:
  explicit command_line_parser(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {}

  command_line parse() {
    if (const char* backend = std::getenv("SUKIMA_CC"); backend != nullptr && *backend != '\0')
      result_.backend = backend;
    while (at_ < arguments_.size()) {
      const std::size_t begin = at_;
      parse_option();
      if (!arguments_[begin].starts_with("-MJ"))
        for (std::size_t k = begin; k < at_; ++k) result_.arguments.push_back(arguments_[k]);
    }
    if (result_.has_translations() && packs_structures_)
      throw command_line_error(
          "'-fpack-struct' would change the runtime's own structures; write #pragma pack around yours");
    if (result_.has_translations() && result_.missing_dependencies && !lists_only_dependencies_)
      throw command_line_error("'-MG' lists headers that do not exist yet, so it needs '-M' or '-MM'");
    if (result_.has_translations() && std::ranges::find(message_formats, format_) == message_formats.end())
      throw command_line_error("messages about .tc files have no format '" + format_ +
                               "'; use text, json, msvc or vi in '-fdiagnostics-format='");
    for (const std::string& charset : {result_.input_charset, result_.exec_charset})
      if (result_.has_translations() && !charset.empty() && !is_known_charset(charset))
        throw command_line_error("the character set '" + charset + "' is unknown; see iconv --list");
    if (result_.check_closures && result_.unwind_closures)
      throw command_line_error(
          "'-fcheck-closures' works with '-fclosures=frame' only; omit one of the two options");
    if (result_.backend.empty()) result_.backend = "gcc";
    SUKIMA_ASSERT_VALID(result_);
    return std::move(result_);
  }

 private:
  std::string argument(const std::string& option) {
    if (at_ >= arguments_.size()) throw command_line_error("'" + option + "' needs an argument");
    return arguments_[at_++];
  }

  void add(word_use use, std::vector<std::string> text, bool in_front = false) {
    result_.words.push_back({use, std::move(text), "", in_front});
  }

  void input(const std::string& file) {
    std::string language = language_;
    const std::size_t dot = file.rfind('.');
    if (language.empty() && dot != std::string::npos && file.substr(dot) == ".tc") language = "tc";
    if (file == "-" && language_.empty() && result_.wanted != goal::preprocessed)
      throw command_line_error("the language of stdin is unknown; write -x c or -x tc before '-'");
    result_.words.push_back({word_use::input, {file}, language, false});
  }

  void set_goal(goal g, const std::string& option) {
    result_.wanted = g;
    add(word_use::goal, {option});
  }

  bool own_option(const std::string& o) {
    if (o == "-fcheck-closures" || o == "-fno-check-closures") {
      result_.check_closures = o == "-fcheck-closures";
    } else if (o.starts_with("-fclosures=")) {
      if (o != "-fclosures=frame" && o != "-fclosures=unwind" && o != "-fclosures=exceptions")
        throw command_line_error("unknown '" + o + "'; use 'frame', 'unwind' or 'exceptions'");
      result_.unwind_closures = o != "-fclosures=frame";
      result_.land_closures = o == "-fclosures=exceptions";
    } else if (o == "--sequential") {
      result_.sequential = true;
    } else if (o == "--no-clones") {
      result_.clones = false;
    } else if (o == "--cluster") {
      result_.cluster = true;
    } else if (o == "--emit-c") {
      result_.wanted = goal::translated;
    } else if (o == "--backend" || o == "--backend=") {
      throw command_line_error("'--backend=' needs the name of a C compiler");
    } else if (o.starts_with("--backend=")) {
      result_.backend = o.substr(10);
    } else if (o == "--launcher" || o == "--launcher=") {
      throw command_line_error("'--launcher=' needs a program, such as ccache");
    } else if (o.starts_with("--launcher=")) {
      result_.launcher.push_back(o.substr(11));
    } else if (o == "--help") {
      result_.help = true;
    } else if (o == "--version") {
      result_.version = true;
    } else {
      return false;
    }
    add(word_use::own, {o});
    return true;
  }

  bool dependency_option(const std::string& o) {
    if (o == "-MD" || o == "-MMD") {
      result_.list_dependencies = true;
      result_.system_dependencies = o == "-MD";
      add(word_use::depend, {o});
    } else if (o == "-MP" || o == "-MG") {
      (o == "-MP" ? result_.phony_dependencies : result_.missing_dependencies) = true;
      add(word_use::depend, {o});
    } else if (o.starts_with("-MJ")) {
      result_.database_file = o.size() > 3 ? o.substr(3) : argument("-MJ");
      add(word_use::own, {o});
    } else if (o.starts_with("-MF") || o.starts_with("-MT") || o.starts_with("-MQ")) {
      const std::string option = o.substr(0, 3);
      const std::string value = o.size() > 3 ? o.substr(3) : argument(option);
      if (option == "-MF") result_.dependency_file = value;
      if (option == "-MT") result_.dependency_targets.push_back(value);
      if (option == "-MQ") result_.dependency_targets.push_back(quoted_for_make(value));
      add(word_use::depend, {option, value});
    } else if (o == "-M" || o == "-MM") {
      result_.system_dependencies = o == "-M";
      set_goal(goal::dependencies, o);
      lists_only_dependencies_ = true;
    } else {
      return false;
    }
    return true;
  }

  /// Reads `-Wp,A,B` and `-Xpreprocessor A`. The front end preprocesses .tc files, so it also gets these
  /// options. Those about dependencies become the driver's own, because the generated file has other ones.
  bool preprocessor_option(const std::string& o) {
    const auto begin = static_cast<std::ptrdiff_t>(at_ - 1);
    std::vector<std::string> words;
    if (o.starts_with("-Wp,")) {
      std::istringstream list(o.substr(4));
      for (std::string one; std::getline(list, one, ',');) words.push_back(one);
    } else if (o == "-Xpreprocessor") {
      words.push_back(argument(o));
      const bool has_argument = words[0].starts_with("-M") && words[0] != "-MP";
      if (has_argument && at_ + 1 < arguments_.size() && arguments_[at_] == o) {
        words.push_back(arguments_[at_ + 1]);
        at_ += 2;
      }
    }
    if (words.empty()) return false;
    const auto first = arguments_.begin() + begin;
    const auto last = arguments_.begin() + static_cast<std::ptrdiff_t>(at_);
    if (!words[0].starts_with("-M")) {
      add(word_use::compile, {first, last}, true);
      return true;
    }
    if (words.size() > 1 && (words[0] == "-MD" || words[0] == "-MMD")) words.insert(words.begin() + 1, "-MF");
    arguments_.insert(arguments_.erase(first, last), words.begin(), words.end());
    at_ = static_cast<std::size_t>(begin);
    return true;
  }

  bool goal_option(const std::string& o) {
    goal wanted = result_.wanted;
    if (o == "-c") {
      if (wanted == goal::link) wanted = goal::object;
    } else if (o == "-S") {
      wanted = goal::assembly;
    } else if (o == "-E") {
      wanted = goal::preprocessed;
    } else if (o == "-fsyntax-only") {
      wanted = goal::syntax;
    } else {
      return false;
    }
    if (!lists_only_dependencies_) result_.wanted = wanted;  // -M and -MM go before
    add(word_use::goal, {o});
    return true;
  }

  bool option_with_argument(const std::string& o) {
    for (const option_form& form : with_argument) {
      if (o == form.name) {
        const std::string value = argument(o);
        add(form.use, {o, value}, form.in_front);
        return true;
      }
      if (o.size() > form.name.size() && o.starts_with(form.name) && joined(o, form.name)) {
        add(form.use, {o}, form.in_front);
        return true;
      }
    }
    return false;
  }

  static void charset_option(const std::string& o, std::string_view option, std::string& into) {
    if (!o.starts_with(option)) return;
    std::string name = o.substr(option.size());
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    into = name == "UTF-8" || name == "UTF8" ? "" : name;
  }

  /// Returns whether `o` is the option `name` with a joined argument, not another one that begins like it.
  static bool joined(const std::string& o, std::string_view name) {
    if (name == "-u") return !o.starts_with("-un");
    constexpr std::string_view names =
        " -l -L -I -D -U -T -B -include -isystem -iquote -imacros -idirafter -isysroot ";
    return names.find(" " + std::string(name) + " ") != std::string_view::npos;
  }

  void parse_option() {
    const std::string o = arguments_[at_++];
    if (o.size() < 2 || o[0] != '-') return input(o);
    if (own_option(o) || dependency_option(o) || preprocessor_option(o) || goal_option(o)) return;
    if (o == "-o" || (o.starts_with("-o") && !o.starts_with("-object"))) {
      result_.output = o == "-o" ? argument(o) : o.substr(2);
      return add(word_use::output, {"-o", result_.output});
    }
    if (o.starts_with("-x")) {
      language_ = o == "-x" ? argument(o) : o.substr(2);
      if (language_ == "none") language_.clear();
      return;
    }
    if (o == "-v") result_.verbose = true;
    if (o == "-###") {
      result_.dry_run = true;
      return add(word_use::own, {o});
    }
    if (o == "-nostdlib" || o == "-nodefaultlibs" || o == "-r") {
      result_.no_libraries = true;
      return add(word_use::link, {o});
    }
    if (o.starts_with("-print-") || o.starts_with("--print-") || o.starts_with("-dump") ||
        o.starts_with("--help=") || o == "--target-help" || o == "-Q")
      result_.information = true;
    if (option_with_argument(o)) return;
    if (o.starts_with(message_format)) format_ = o.substr(message_format.size());
    packs_structures_ |= o.starts_with("-fpack-struct");
    charset_option(o, "-finput-charset=", result_.input_charset);
    charset_option(o, "-fexec-charset=", result_.exec_charset);
    if (is_about_warnings(o)) return add(word_use::warn, {o}, true);
    add(is_for_link(o) ? word_use::link : word_use::compile, {o}, is_for_front(o));
  }

  std::vector<std::string> arguments_;
  std::size_t at_ = 0;
  std::string language_;
  std::string format_ = "text";  ///< of messages
  bool packs_structures_ = false;
  bool lists_only_dependencies_ = false;  ///< -M, -MM
  command_line result_;
};

}  // namespace

const char* command_line::violated_invariant() const {
  for (const word& w : words) {
    if (w.text.empty() || (w.use == word_use::input && w.text.size() != 1)) return "an input is one file";
    if (w.use != word_use::input && !w.language.empty()) return "only an input has a language";
    if (w.in_front && w.use != word_use::compile && w.use != word_use::warn)
      return "the front end gets options for compiling and about warnings";
  }
  if (land_closures && !unwind_closures) return "closures that land are unwound";
  return nullptr;
}

std::vector<const word*> command_line::inputs() const {
  std::vector<const word*> result;
  for (const word& w : words)
    if (w.use == word_use::input) result.push_back(&w);
  return result;
}

bool command_line::has_translations() const {
  return std::any_of(words.begin(), words.end(),
                     [](const word& w) { return w.use == word_use::input && w.language == "tc"; });
}

bool is_c_source(const word& input) {
  return input.use == word_use::input && input.language != "tc" &&
         (!input.language.empty() || input.text.front().ends_with(".c"));
}

bool command_line::compiles_c() const {
  return !information && wanted != goal::preprocessed && std::any_of(words.begin(), words.end(), is_c_source);
}

command_line read_command_line(const std::vector<std::string>& arguments) {
  std::vector<std::string> all;
  for (const std::string& argument : arguments) expand_response_files(argument, all);
  return command_line_parser(std::move(all)).parse();
}

}  // namespace sukima::language
