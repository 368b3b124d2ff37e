# SPDX-License-Identifier: Apache-2.0
# sukima_translator: a file of the Tascell language in, standard C out. One folder for each stage, in their order.
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

add_library(sukima_translator STATIC
  translate.cpp
  source/preprocess.cpp
  desugar/closure_blocks.cpp
  desugar/closures.cpp
  desugar/desugar.cpp
  desugar/statements.cpp
  index/semantic_index.cpp
  check/check.cpp
  check/closures.cpp
  check/diagnostics.cpp
  emit/captures.cpp
  emit/closure_exits.cpp
  emit/closure_records.cpp
  emit/closures.cpp
  emit/constructs.cpp
  emit/exits.cpp
  emit/file_scope.cpp
  emit/joins.cpp
  emit/loops.cpp
  emit/moves.cpp
  emit/tokens.cpp
  emit/tries.cpp
  emit/types.cpp
  emit/unwind_callers.cpp
  emit/unwind_calls.cpp
  emit/unwind_collect.cpp
  emit/unwind_functions.cpp
  emit/unwind_plan.cpp
  emit/unwind_statements.cpp
  emit/writer.cpp)
target_compile_features(sukima_translator PUBLIC cxx_std_20)
target_include_directories(sukima_translator PUBLIC ${PROJECT_SOURCE_DIR}/src/compiler)
target_include_directories(sukima_translator PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated)
target_include_directories(sukima_translator SYSTEM PRIVATE ${SUKIMA_CLANG_INCLUDE})
target_precompile_headers(sukima_translator PRIVATE source/clang.hpp)
# LLVM is built without run-time type information; a sanitizer would find faults in it that are not ours.
target_compile_options(sukima_translator PRIVATE -fno-rtti -fno-sanitize=all -O1
  $<$<CXX_COMPILER_ID:GNU>:-Wno-nonnull>) # in Clang's headers
target_link_libraries(sukima_translator
  PRIVATE ${SUKIMA_CLANG_LIBRARY} ${SUKIMA_LLVM_LIBRARY} $<BUILD_INTERFACE:sukima_warnings>)
