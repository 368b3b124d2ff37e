// SPDX-License-Identifier: Apache-2.0
#include "driver/driver.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "driver/backend.hpp"
#include "driver/dependencies.hpp"
#include "driver/linking.hpp"
#include "driver/run_program.hpp"
#include "translate.hpp"

namespace sukima::language {
namespace {

using arguments = std::vector<std::string>;

/// Makes functions touch each page of a large frame, so that no frame skips the guard page of a fiber's
/// stack. It precedes the user's options, which may turn it off. Clang warns about it if it compiles nothing.
constexpr const char* stack_probes = "-fstack-clash-protection";

void append(arguments& to, const arguments& more) { to.insert(to.end(), more.begin(), more.end()); }

/// Adds inputs. `-x LANGUAGE` precedes an input whose name does not imply its language.
class input_list {
 public:
  explicit input_list(arguments& to) : to_(to) {}
  void add(const word& input) {
    set_language(input.language == "tc" ? "c" : input.language);
    append(to_, input.text);
  }
  void add_object(const std::string& file) {
    set_language("");
    to_.push_back(file);
  }
  /// Resets the language so that libraries may follow.
  void end() { set_language(""); }

 private:
  void set_language(const std::string& language) {
    if (language == language_) return;
    append(to_, {"-x", language.empty() ? "none" : language});
    language_ = language;
  }
  arguments& to_;
  std::string language_;
};

/// Returns whether this is the format of messages. The front end follows it for .tc files; the C compiler may
/// not know it.
bool is_message_format(const word& w) { return w.text.front().starts_with("-fdiagnostics-format="); }

std::string stem(const std::string& file) {
  return file == "-" ? "stdin" : std::filesystem::path(file).stem().string();
}

/// One run of the compiler.
class driver {
 public:
  driver(const command_line& line, const toolchain& tools) : line_(line), tools_(tools) {}

  int run() {
    if (line_.information) return pass_through();
    const std::vector<const word*> inputs = line_.inputs();
    if (inputs.empty()) {
      if (line_.verbose) return pass_through();
      throw command_line_error("no input files; give a .tc, .c or .o file (see sukima cc --help)");
    }
    for (const word* input : inputs) {
      check_file(*input);
      std::error_code problem;
      const std::string& file = input->text.front();
      if (std::filesystem::is_regular_file(file, problem) &&
          std::filesystem::equivalent(file, line_.output, problem))
        throw command_line_error("'-o' names the input '" + file + "'; give another output file");
    }
    if (!line_.database_file.empty() && !line_.dry_run && !write_database(inputs)) return 1;
    if (line_.wanted == goal::translated) return emit_translated(inputs);
    if (!line_.has_translations() || line_.wanted == goal::preprocessed) return pass_through();
    if (line_.wanted != goal::link && inputs.size() > 1 && !line_.output.empty())
      throw command_line_error(
          "'-o' with -c, -S or -E takes only one input file; omit '-o', or compile the files one at a time");
    if (line_.wanted == goal::link) return compile_and_link(inputs);
    int result = 0;
    for (const word* input : inputs) {
      const int code = input->language == "tc" ? compile_one(*input) : pass_one(*input);
      if (code != 0) result = code;
    }
    return result;
  }

 private:
  static void check_file(const word& input) {
    const std::string& file = input.text.front();
    if (input.language != "tc" || file == "-") return;
    std::error_code problem;
    if (std::filesystem::is_directory(file, problem))
      throw command_line_error("'" + file + "' is a directory; give a source file");
    if (!std::ifstream(file)) throw command_line_error("cannot read '" + file + "': " + std::strerror(errno));
  }

  arguments include_options() const {
    // Omits folders that the C compiler searches by default, because -isystem would change their order.
    if (tools_.include == "/usr/include" || tools_.include == "/usr/local/include") return {};
    return {"-isystem", tools_.include};
  }

  /// \param for_cluster  a file of the program has a `cluster worker`
  arguments libraries(bool for_cluster = false) const {
    if (line_.no_libraries) return {};
    if (!for_cluster && !line_.cluster) return tools_.link;
    if (tools_.cluster.empty())
      throw command_line_error(
          "this Sukima was built without the library for several nodes; omit 'cluster' and '--cluster'");
    arguments all = tools_.cluster;
    append(all, tools_.link);
    return all;
  }

  int execute(const arguments& command, bool last, const line_change& change = {}) const {
    if (line_.verbose || line_.dry_run) std::cerr << quoted_command(command) << '\n';
    if (line_.dry_run) return 0;
    return last ? become_program(command) : run_program(command, change);
  }

  /// Translates nothing: passes all words to the C compiler, and the libraries if it links.
  int pass_through() const {
    arguments command{line_.backend};
    if (line_.compiles_c()) command.emplace_back(stack_probes);
    input_list list(command);
    for (const word& w : line_.words) {
      if (w.use == word_use::input)
        list.add(w);
      else if (w.use != word_use::own)
        append(command, w.text);
    }
    const bool links = line_.wanted == goal::link && !line_.information && !line_.inputs().empty();
    if (links && !libraries().empty()) list.end();
    append(command, tools_.compile);
    append(command, include_options());
    if (line_.has_translations()) {
      if (line_.sequential) command.emplace_back("-D__SUKIMA_SEQUENTIAL__=1");
      command.emplace_back("-D__SUKIMA__=1");
    }
    if (links) append(command, libraries());
    return execute(command, true);
  }

  int pass_one(const word& input) const {
    arguments command{line_.backend};
    if (is_c_source(input)) command.emplace_back(stack_probes);
    for (const word& w : line_.words)
      if (w.use == word_use::compile || w.use == word_use::warn || w.use == word_use::goal ||
          w.use == word_use::depend || w.use == word_use::output)
        append(command, w.text);
    append(command, tools_.compile);
    append(command, include_options());
    input_list(command).add(input);
    return execute(command, false);
  }

  /// Returns whether the program is built for a debugger: with -g and without optimisation.
  bool is_debuggable() const {
    bool debug = false;
    bool optimised = false;
    for (const word& w : line_.words) {
      const std::string& o = w.text.front();
      if (w.use != word_use::compile) continue;
      if (o.starts_with("-O")) optimised = o != "-O0" && o != "-Og";
      if (o == "-g" || (o.starts_with("-g") && o != "-g0" && !o.starts_with("-gno-"))) debug = true;
      if (o == "-g0") debug = false;
    }
    return debug && !optimised;
  }

  translation_result translate_to(const word& input, const std::string& output) {
    translation_request request;
    request.file = input.text.front();
    request.output = output;
    request.sequential = line_.sequential;
    request.clones = line_.clones;
    request.check_closures = line_.check_closures;
    request.unwind_closures = line_.unwind_closures;
    request.land_closures = line_.land_closures;
    request.debuggable = is_debuggable();
    request.only_lists_files = line_.wanted == goal::dependencies;
    request.input_charset = line_.input_charset;
    request.exec_charset = line_.exec_charset;
    request.lists_missing_files = line_.missing_dependencies;
    for (const word& w : line_.words)
      if (w.in_front) append(request.options, w.text);
    append(request.options, include_options());
    if (!tools_.clang_headers.empty()) append(request.options, {"-resource-dir", tools_.clang_headers});
    if (line_.sequential) request.options.emplace_back("-D__SUKIMA_SEQUENTIAL__=1");
    if (request.only_lists_files) request.options.emplace_back("-w");
    if (line_.verbose || line_.dry_run)
      std::cerr << "translate " << quoted_command({request.file, "->", output}) << '\n';
    if (line_.dry_run) {
      translation_result none;
      none.successful = true;
      return none;
    }
    if (!macros_) macros_ = macros_of_backend(line_, tools_, folder().path());
    request.macros = *macros_;
    return translate(request);
  }

  /// Compiles the generated C, which already contains the user's -include files, in UTF-8. The front end has
  /// given the warnings for the user's text. The temporary file's name is not part of the result, so builds
  /// are reproducible.
  arguments compile_command(const word& input, const std::string& c_file, const arguments& goal_words) const {
    arguments command = line_.launcher;
    command.push_back(line_.backend);
    command.push_back(stack_probes);
    if (line_.land_closures) command.emplace_back("-fexceptions");
    for (const word& w : line_.words) {
      if (w.use != word_use::compile) continue;
      if (w.text.front().starts_with("-include") || w.text.front().starts_with("-imacros") ||
          w.text.front().starts_with("-finput-charset=") || is_message_format(w))
        continue;
      append(command, w.text);
    }
    append(command, tools_.compile);
    if (line_.sequential) command.emplace_back("-D__SUKIMA_SEQUENTIAL__=1");
    command.emplace_back("-D__SUKIMA__=1");
    append(command, include_options());
    append(command, goal_words);
    // Some compilers treat these warnings as errors by default. The front end has already reported them.
    append(command,
           {"-Wno-error=int-conversion", "-Wno-error=implicit-function-declaration",
            "-Wno-error=implicit-int", "-Wno-error=incompatible-pointer-types", "-Wno-error=return-type"});
    append(command, {"-w", "-ffile-prefix-map=" + c_file + "=" + mapped_name(line_, input.text.front()), "-x",
                     "c", c_file});
    return command;
  }

  /// Writes one line for each source as clang's -MJ does: a JSON object followed by a comma.
  bool write_database(const std::vector<const word*>& inputs) const {
    std::ofstream out(line_.database_file);
    for (const word* input : inputs) {
      const std::string& file = input->text.front();
      const std::string suffix = std::filesystem::path(file).extension().string();
      if (input->language.empty() && suffix != ".c") continue;
      nlohmann::ordered_json entry;
      entry["directory"] = std::filesystem::current_path().string();
      entry["file"] = file;
      if (line_.wanted == goal::object)
        entry["output"] = line_.output.empty() ? stem(file) + ".o" : line_.output;
      entry["arguments"] = {"sukima", "cc"};
      for (const std::string& argument : line_.arguments) entry["arguments"].push_back(argument);
      // Names of files need not be UTF-8, but JSON must be.
      out << entry.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << ",\n";
    }
    out.close();
    if (out) return true;
    std::cerr << "sukima cc: cannot write '" << line_.database_file << "': " << std::strerror(errno) << '\n';
    return false;
  }

  work_folder& folder() {
    if (folder_ == nullptr)
      folder_ =
          std::make_unique<work_folder>(line_.launcher.empty() ? "" : name_for_a_cache(line_.arguments));
    return *folder_;
  }

  /// Removes the output file after an error.
  static void remove_output(const std::string& file) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored)) std::filesystem::remove(file, ignored);
  }

  int compile_one(const word& input) {
    const std::string& file = input.text.front();
    const std::string suffix = line_.wanted == goal::assembly ? ".s" : ".o";
    const std::string output = line_.output.empty() ? stem(file) + suffix : line_.output;
    const std::string c_file = folder().path() + "/" + stem(file) + ".c";
    const translation_result result = translate_to(input, c_file);
    if (!result.successful) {
      if (line_.wanted == goal::object || line_.wanted == goal::assembly) remove_output(output);
      return 1;
    }
    const std::string object = line_.output.empty() ? stem(file) + ".o" : line_.output;
    if (line_.wanted == goal::dependencies) {
      const std::string& to = line_.dependency_file.empty() ? line_.output : line_.dependency_file;
      const bool is_done =
          line_.dry_run || write_dependencies(line_, result, to.empty() ? "-" : to, stem(file) + ".o");
      return is_done ? 0 : 1;
    }
    if (line_.list_dependencies && !line_.dry_run &&
        !write_dependencies(line_, result, dependency_file(line_, file), object))
      return 1;
    arguments goal_words;
    if (line_.wanted == goal::syntax)
      goal_words = {"-fsyntax-only"};
    else
      goal_words = {line_.wanted == goal::assembly ? "-S" : "-c", "-o", output};
    const int code = execute(compile_command(input, c_file, goal_words), false);
    if (code != 0 && line_.wanted != goal::syntax) remove_output(output);
    return code;
  }

  int emit_translated(const std::vector<const word*>& inputs) {
    if (inputs.size() != 1 || inputs.front()->language != "tc")
      throw command_line_error("'--emit-c' takes exactly one input, a .tc file");
    if (line_.output.empty() || line_.output == "-")
      return translate_to(*inputs.front(), "-").successful ? 0 : 1;
    const std::string c_file = folder().path() + "/translated.c";
    if (!translate_to(*inputs.front(), c_file).successful) {
      remove_output(line_.output);
      return 1;
    }
    if (line_.dry_run) return 0;
    std::ofstream out(line_.output, std::ios::binary);  // the output may be a device
    out << std::ifstream(c_file, std::ios::binary).rdbuf();
    out.close();
    if (out) return 0;
    std::cerr << "sukima cc: cannot write '" << line_.output << "': " << std::strerror(errno) << '\n';
    return 1;
  }

  int compile_and_link(const std::vector<const word*>& inputs) {
    const std::string output = line_.output.empty() ? "a.out" : line_.output;
    std::vector<std::string> objects;
    bool failed = false;
    std::vector<translation_result> translated;
    for (const word* input : inputs) {
      objects.emplace_back();
      if (input->language != "tc") continue;
      const std::string& file = input->text.front();
      const std::string own_folder = folder().path() + "/" + std::to_string(objects.size());
      std::filesystem::create_directory(own_folder);
      const std::string base = own_folder + "/" + stem(file);
      const translation_result& result = translated.emplace_back(translate_to(*input, base + ".c"));
      failed |= !result.successful;
      if (!result.successful) continue;
      if (line_.list_dependencies && !line_.dry_run &&
          !write_dependencies(line_, result, dependency_file(line_, file), stem(file) + ".o"))
        return 1;
      objects.back() = base + ".o";
      const arguments names = names_beside(line_, output);
      arguments goal_words{"-c", "-o", objects.back()};
      append(goal_words, names);
      failed |= execute(compile_command(*input, base + ".c", goal_words), false) != 0;
      if (!names.empty()) keep_object(line_, objects.back(), names.back());
    }
    SUKIMA_ASSERT(objects.size() == inputs.size(), "each input has an object, perhaps an empty one");
    if (failed || !check_executions(line_, translated)) {
      remove_output(output);
      return 1;
    }
    arguments command{line_.backend};
    if (line_.compiles_c()) command.emplace_back(stack_probes);
    input_list list(command);
    std::size_t next = 0;
    for (const word& w : line_.words) {
      if (w.use == word_use::input) {
        const std::string& object = objects[next++];
        if (object.empty())
          list.add(w);
        else
          list.add_object(object);
      } else if (w.use != word_use::own && (line_.compiles_c() || !is_message_format(w))) {
        append(command, w.text);
      }
    }
    SUKIMA_ASSERT(next == objects.size(), "each object is linked in the place of its source");
    list.end();
    append(command, tools_.compile);
    append(command, include_options());
    append(command, libraries(std::any_of(translated.begin(), translated.end(),
                                          [](const translation_result& one) { return one.has_cluster; })));
    return execute(command, false, explained);
  }

  const command_line& line_;
  const toolchain& tools_;
  std::unique_ptr<work_folder> folder_;
  std::optional<std::vector<predefined_macro>> macros_;  ///< of the C compiler, when they have been asked for
};

}  // namespace

int drive(const command_line& line, const toolchain& tools) { return driver(line, tools).run(); }

}  // namespace sukima::language
