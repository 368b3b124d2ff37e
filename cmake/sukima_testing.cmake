# SPDX-License-Identifier: Apache-2.0
# Functions for tests: sukima_add_test, sukima_add_program_test, sukima_add_models, sukima_build_for_checks,
# sukima_add_fuzzer and sukima_add_corpus_test.
if(CMAKE_CROSSCOMPILING)
  # libgtest-dev brings the sources, too.
  set(INSTALL_GTEST OFF)
  add_subdirectory(/usr/src/googletest ${CMAKE_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
else()
  find_package(GTest REQUIRED)
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
# A version manager's python3 is a shell script, which takes longer to start the interpreter than many tests run.
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable)"
  OUTPUT_VARIABLE Python3_EXECUTABLE OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
include(GoogleTest)

# Under an emulator (preset aarch64) some tests are left out. The filter for GoogleTest comes from a list with the
# reasons. An emulated process cannot start its own file again, so death tests fork.
set(SUKIMA_DEATH_TEST_STYLE threadsafe)
set(SUKIMA_TEST_FILTER "")
if(CMAKE_CROSSCOMPILING)
  set(SUKIMA_DEATH_TEST_STYLE fast)
  set(exclusions_file ${PROJECT_SOURCE_DIR}/tests/not_emulated.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${exclusions_file})
  file(STRINGS ${exclusions_file} exclusions REGEX "^[^#]")
  list(JOIN exclusions ":" exclusions)
  set(SUKIMA_TEST_FILTER TEST_FILTER "-${exclusions}")
endif()

# Seconds until a test is killed. The limit only finds hangs, even with a sanitizer on a busy machine.
set(SUKIMA_TEST_TIMEOUT 600 CACHE STRING "Seconds until a test is killed")

# Options of the sanitizers that every test runs with.
set(SUKIMA_TEST_ENVIRONMENT
  "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1"
  "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1"
  "UBSAN_OPTIONS=print_stacktrace=1")

# Labels with a meaning for scripts/test.sh:
#   check    for `make check`, not for the gate: takes long, or begins with a fresh seed
#   measure  for `make measure`: the verdict is a time or a share of CPU, so it runs alone
# A test with neither belongs to the gate, `make test`.

# sukima_add_test_header(NAME HEADER… [LIBRARIES library…]) precompiles <HEADER>s once for all tests with `HEADER NAME`. Their
# sources include these themselves, so that they compile without it. A macro that a test defines must not occur in them.
function(sukima_add_test_header name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES")
  set(source ${CMAKE_BINARY_DIR}/tests/precompiled/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Nothing: its precompiled header is for tests.\n")
  add_library(sukima_test_header_${name} OBJECT EXCLUDE_FROM_ALL ${source})
  target_link_libraries(sukima_test_header_${name} PRIVATE ${arg_LIBRARIES} GTest::gtest_main sukima_warnings)
  sukima_compile_quickly(sukima_test_header_${name})
  list(TRANSFORM arg_UNPARSED_ARGUMENTS REPLACE "^.+$" "$<$<COMPILE_LANGUAGE:CXX>:<\\0$<ANGLE-R>>")
  target_precompile_headers(sukima_test_header_${name} PRIVATE ${arg_UNPARSED_ARGUMENTS})
endfunction()
sukima_add_test_header(gtest gtest/gtest.h)
sukima_add_test_header(json gtest/gtest.h nlohmann/json.hpp)
sukima_add_test_header(sukima gtest/gtest.h sukima/sukima.hpp LIBRARIES sukima::sukima)
sukima_add_test_header(cluster gtest/gtest.h sukima/cluster.hpp LIBRARIES sukima::sukima)

# sukima_add_test(NAME SOURCES source… [LIBRARIES library…] [DEFINITIONS definition…] [LABELS label…]
#                 [HEADER name] [SHARDS count] [TOGETHER count] [OPTIMIZED] [SEPARATE])
# adds the program NAME of GoogleTest tests, each a test of ctest called NAME.SUITE.TEST. OPTIMIZED compiles it with
# -O3 instead of -Og; TOGETHER compiles that many of its sources at a time instead of a dozen, because eight with many
# templates take a gigabyte of memory; SEPARATE compiles them one by one. HEADER is the precompiled one of its
# sources, which are C++.
# SHARDS is for tests that do not disturb one another. With a sanitizer, starting a process takes longer than most tests,
# so each of that many processes runs a part of the tests. Such a process is a test of ctest, NAME.shard_NUMBER;
# test-summary.py reads the results of its tests in test-results/shards.
function(sukima_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMIZED;SEPARATE" "HEADER;SHARDS;TOGETHER" "SOURCES;LIBRARIES;DEFINITIONS;LABELS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "sukima_add_test(${name} …): give SOURCES and named arguments only, "
      "without '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_compile_definitions(${name} PRIVATE
    SUKIMA_DEATH_TEST_STYLE="${SUKIMA_DEATH_TEST_STYLE}" ${arg_DEFINITIONS})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest_main sukima_warnings)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/bin)
  if("check" IN_LIST arg_LABELS OR "measure" IN_LIST arg_LABELS)
    sukima_build_for_checks(${name})
  endif()
  if(arg_HEADER)
    target_precompile_headers(${name} REUSE_FROM sukima_test_header_${arg_HEADER})
  endif()
  if(NOT arg_OPTIMIZED)
    sukima_compile_quickly(${name})
  endif()
  if(arg_SEPARATE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  elseif(arg_TOGETHER)
    set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE ${arg_TOGETHER})
  endif()
  if(CMAKE_CROSSCOMPILING AND "measure" IN_LIST arg_LABELS)
    return() # the times of an emulated processor mean nothing
  endif()
  if(arg_SHARDS AND SUKIMA_SANITIZER)
    sukima_add_shards(${name} ${arg_SHARDS} "${arg_LABELS}")
    return()
  endif()
  gtest_discover_tests(${name}
    TEST_PREFIX ${name}.
    TEST_LIST discovered_${name}
    ${SUKIMA_TEST_FILTER}
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60)
  # Lists as values (ENVIRONMENT, LABELS) would come apart among the PROPERTIES of gtest_discover_tests.
  set(serial OFF)
  if("measure" IN_LIST arg_LABELS)
    set(serial ON)
  endif()
  set(properties_file ${CMAKE_CURRENT_BINARY_DIR}/${name}_properties.cmake)
  # A program that is not built has one test that fails, NAME_NOT_BUILT.
  file(WRITE ${properties_file} "if(NOT DEFINED discovered_${name})
  set(discovered_${name} ${name}_NOT_BUILT)
endif()
set_tests_properties(\${discovered_${name}} PROPERTIES TIMEOUT ${SUKIMA_TEST_TIMEOUT} RUN_SERIAL ${serial}
  LABELS \"${arg_LABELS}\" ENVIRONMENT \"${SUKIMA_TEST_ENVIRONMENT}\")\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${properties_file})
endfunction()

# sukima_add_shards(NAME COUNT LABELS): see SHARDS of sukima_add_test.
function(sukima_add_shards name count labels)
  math(EXPR last "${count} - 1")
  foreach(number RANGE ${last})
    set(shard ${name}.shard_${number})
    add_test(NAME ${shard} COMMAND ${name})
    set_tests_properties(${shard} PROPERTIES TIMEOUT 1200 LABELS "${labels}" ENVIRONMENT
      "${SUKIMA_TEST_ENVIRONMENT};GTEST_TOTAL_SHARDS=${count};GTEST_SHARD_INDEX=${number};\
GTEST_OUTPUT=xml:${CMAKE_BINARY_DIR}/test-results/shards/${shard}.xml")
  endforeach()
endfunction()

# sukima_add_program_test(NAME [TIMEOUT seconds] [COST seconds] [LABELS label…] COMMAND command…)
# adds a test that passes if the command ends with code 0, and is skipped if it ends with 77. An emulator, if there is
# one, is put in front of each $<TARGET_FILE:…> that is a program. Tests with a COST begin first in a build folder where
# ctest has not measured any yet; else a long test may begin last, and the other CPUs wait for it.
function(sukima_add_program_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;COST" "COMMAND;LABELS")
  set(timeout ${SUKIMA_TEST_TIMEOUT})
  if(arg_TIMEOUT)
    set(timeout ${arg_TIMEOUT})
  endif()
  set(command "")
  foreach(word IN LISTS arg_COMMAND)
    if(CMAKE_CROSSCOMPILING AND word MATCHES "^[$]<TARGET_FILE:([^>]+)>$")
      get_target_property(type ${CMAKE_MATCH_1} TYPE)
      if(type STREQUAL "EXECUTABLE")
        list(APPEND command ${CMAKE_CROSSCOMPILING_EMULATOR})
      endif()
    endif()
    list(APPEND command "${word}")
  endforeach()
  if(NOT CMAKE_CROSSCOMPILING)
    set(command "${arg_COMMAND}") # as it is: words with semicolons stay whole
  endif()
  add_test(NAME ${name} COMMAND ${command})
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${timeout}
    SKIP_RETURN_CODE 77
    ENVIRONMENT "${SUKIMA_TEST_ENVIRONMENT}")
  if("measure" IN_LIST arg_LABELS)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
  if(arg_COST)
    set_tests_properties(${name} PROPERTIES COST ${arg_COST})
  endif()
  if(arg_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}")
  endif()
endfunction()

# sukima_add_models(FOLDER) adds a test for each `check:` line of each model src/PART/model/NAME.pml under FOLDER,
# called model.PART.NAME.NUMBER; scripts/check-models.sh says what such a line means.
function(sukima_add_models folder)
  file(GLOB_RECURSE models CONFIGURE_DEPENDS ${folder}/*.pml)
  foreach(model IN LISTS models)
    cmake_path(GET model STEM stem)
    cmake_path(GET model PARENT_PATH model_folder)
    cmake_path(GET model_folder PARENT_PATH part_folder)
    cmake_path(GET part_folder FILENAME part)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${model})
    file(STRINGS ${model} checks REGEX "^[/* ]*check:")
    list(LENGTH checks count)
    if(count EQUAL 0)
      set(count 1) # the test says what is missing
    endif()
    foreach(number RANGE 1 ${count})
      sukima_add_program_test(model.${part}.${stem}.${number}
        COMMAND ${PROJECT_SOURCE_DIR}/scripts/check-models.sh ${model} ${number}
        TIMEOUT 900
        LABELS model check)
    endforeach()
  endforeach()
endfunction()

# The target `checks` builds the programs that only tests with the labels `check` and `measure` need; `all` does not.
add_custom_target(checks)
add_custom_target(fuzzers)
add_dependencies(checks fuzzers)

# sukima_build_for_checks(TARGET…) makes these targets a part of `checks` instead of `all`.
function(sukima_build_for_checks)
  set_target_properties(${ARGN} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(checks ${ARGN})
endfunction()

# sukima_add_fuzzer(NAME PROGRAM CORPUS) adds a test NAME in which PROGRAM, a fuzzer of libFuzzer, tries 20,000 inputs.
# It makes them from the inputs in the folder CORPUS by a fixed seed. `make fuzz` (scripts/fuzz.sh) lets it run freely.
function(sukima_add_fuzzer name program corpus)
  sukima_add_program_test(${name}
    COMMAND ${PROJECT_SOURCE_DIR}/scripts/fuzz.sh --fixed ${program} ${corpus}
    LABELS fuzz check)
  file(APPEND ${CMAKE_BINARY_DIR}/fuzzers.txt "${name}|${program}|${corpus}\n")
endfunction()
file(WRITE ${CMAKE_BINARY_DIR}/fuzzers.txt "")

# sukima_add_corpus_test(NAME CORPUS SOURCES source… LIBRARIES library… [DEFINITIONS definition…] [FEWEST count])
# adds the test NAME, which gives every file of the folder CORPUS (at least FEWEST, 8) to the fuzz target among the
# sources. So the inputs are tried everywhere; a fuzzer needs clang.
function(sukima_add_corpus_test name corpus)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "FEWEST" "SOURCES;LIBRARIES;DEFINITIONS")
  if(NOT arg_FEWEST)
    set(arg_FEWEST 8)
  endif()
  sukima_add_test(${name}
    SOURCES ${PROJECT_SOURCE_DIR}/tests/corpus/corpus_test.cpp ${arg_SOURCES}
    LIBRARIES ${arg_LIBRARIES}
    HEADER gtest
    DEFINITIONS SUKIMA_CORPUS="${CMAKE_CURRENT_SOURCE_DIR}/${corpus}" SUKIMA_CORPUS_FEWEST=${arg_FEWEST}
      ${arg_DEFINITIONS})
endfunction()
