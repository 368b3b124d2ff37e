# SPDX-License-Identifier: Apache-2.0
# sukima_translator: translates a file of the Tascell language to standard C. It has one folder for each stage, in order.
find_path(SUKIMA_CLANG_INCLUDE clang/AST/ASTContext.h PATHS /usr/lib/llvm-19/include NO_DEFAULT_PATH)
find_library(SUKIMA_CLANG_LIBRARY NAMES libclang-cpp.so.19.1 clang-cpp PATHS /usr/lib/llvm-19/lib NO_DEFAULT_PATH)
find_library(SUKIMA_LLVM_LIBRARY NAMES libLLVM.so.19.1 LLVM-19 PATHS /usr/lib/llvm-19/lib NO_DEFAULT_PATH)
find_path(SUKIMA_CLANG_RESOURCES include/stddef.h PATHS /usr/lib/llvm-19/lib/clang/19 NO_DEFAULT_PATH)
foreach(needed SUKIMA_CLANG_INCLUDE SUKIMA_CLANG_LIBRARY SUKIMA_LLVM_LIBRARY SUKIMA_CLANG_RESOURCES)
  if(NOT ${needed})
    message(FATAL_ERROR "The compiler of the Tascell language needs the libraries of Clang 19: install "
      "libclang-19-dev and llvm-19-dev, or set ${needed}, or configure with -DSUKIMA_BUILD_COMPILER=OFF.")
  endif()
endforeach()
configure_file(clang_paths.hpp.in generated/clang_paths.hpp @ONLY)

# Reading Clang's headers takes fifteen seconds, and precompiling them forty. So all sources are one unit, which takes two
# gigabytes of memory to compile.
set(source_files
  source/backend_macros.cpp
  source/charsets.cpp
  source/implicit_names.cpp
  source/pragmas.cpp
  source/preprocess.cpp
  source/report.cpp
  source/unit.cpp
  translate.cpp)
set(check_files
  check/c_compiler.cpp
  check/check.cpp
  check/closures.cpp
  check/cluster.cpp
  check/clang_diagnostics.cpp
  check/hidden_names.cpp
  check/json_messages.cpp
  check/returns.cpp
  check/successors.cpp
  check/values.cpp
  check/worker_locals.cpp)
set(desugar_files
  desugar/closure_addresses.cpp
  desugar/closure_blocks.cpp
  desugar/closure_syntax.cpp
  desugar/closures.cpp
  desugar/desugar.cpp
  desugar/loops.cpp
  desugar/statements.cpp
  desugar/token_stream.cpp)
set(index_files
  index/build.cpp
  index/calls.cpp
  index/declarations.cpp
  index/invariants.cpp
  index/jumps.cpp
  index/semantic_index.cpp
  index/travel.cpp
  index/variable_uses.cpp)
set(plan_files
  plan/c_text.cpp
  plan/captures.cpp
  plan/choice_points.cpp
  plan/clones.cpp
  plan/closure_calls.cpp
  plan/closure_exits.cpp
  plan/closure_frames.cpp
  plan/closures.cpp
  plan/cluster.cpp
  plan/do_two.cpp
  plan/dynamic_wind.cpp
  plan/entering.cpp
  plan/exits.cpp
  plan/functions.cpp
  plan/input.cpp
  plan/invariants.cpp
  plan/join/join.cpp
  plan/join/spawned_call.cpp
  plan/loop.cpp
  plan/macros.cpp
  plan/moved_declarations.cpp
  plan/names.cpp
  plan/polls.cpp
  plan/side_texts.cpp
  plan/tokens.cpp
  plan/try.cpp
  plan/types.cpp
  plan/unit.cpp
  plan/single_tokens.cpp
  plan/worker_functions.cpp
  print/macros.cpp
  print/printer.cpp
  print/sheet.cpp
  print/writer.cpp)
set(unwind_files
  plan/unwind_callers.cpp
  plan/unwind_calls.cpp
  plan/unwind_collect.cpp
  plan/unwind_functions.cpp
  plan/unwind_hoist.cpp
  plan/unwind_plan.cpp
  plan/unwind_results.cpp
  plan/unwind_statements.cpp
  plan/unwind_values.cpp)
add_library(sukima_translator STATIC
  ${source_files}
  ${desugar_files}
  ${index_files}
  ${check_files}
  ${plan_files}
  ${unwind_files})
set_target_properties(sukima_translator PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
target_compile_features(sukima_translator PUBLIC cxx_std_20)
target_include_directories(sukima_translator PUBLIC ${PROJECT_SOURCE_DIR}/src/compiler)
target_include_directories(sukima_translator PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated)
target_include_directories(sukima_translator SYSTEM PRIVATE ${SUKIMA_CLANG_INCLUDE})
# LLVM is built without run-time type information; a sanitizer would find faults in it that are not ours.
target_compile_options(sukima_translator PRIVATE -fno-rtti -fno-sanitize=all ${sukima_quick_optimisation}
  $<$<CXX_COMPILER_ID:GNU>:-Wno-nonnull>) # in Clang's headers
target_link_libraries(sukima_translator
  PUBLIC sukima_shared_headers
  PRIVATE sukima_assertions ${SUKIMA_CLANG_LIBRARY} ${SUKIMA_LLVM_LIBRARY} $<BUILD_INTERFACE:sukima_warnings>)
