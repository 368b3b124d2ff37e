# SPDX-License-Identifier: Apache-2.0
# Functions for the commands of `sukima`, in src/cli and in lab/commands: sukima_add_cli_library and sukima_add_command.
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
include(GNUInstallDirs)

# sukima_add_cli_library(NAME source… [LIBRARIES library…]): a library of the calling folder. All share one precompiled header:
# reading its three headers takes longer than compiling what includes them.
function(sukima_add_cli_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES")
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_include_directories(${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/generated)
  target_link_libraries(${name}
    PUBLIC ${arg_LIBRARIES} sukima_base sukima::capacity sukima_shared_headers CLI11::CLI11 fmt::fmt
      nlohmann_json::nlohmann_json
    PRIVATE $<BUILD_INTERFACE:sukima_warnings>)
  if(NOT name STREQUAL "sukima_cli") # its precompiled header also serves targets without assertions
    target_link_libraries(${name} PRIVATE sukima_assertions)
  endif()
  sukima_compile_quickly(${name})
  sukima_use_cli_header(${name})
endfunction()

# sukima_use_cli_header(TARGET…): these targets, which are compiled quickly, use the precompiled header of sukima_cli.
function(sukima_use_cli_header)
  foreach(target IN LISTS ARGN)
    if(NOT TARGET ${target})
      continue()
    endif()
    # g++ 12 finds overflows in std::string's own code if that comes from a precompiled header.
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds>)
    if(target STREQUAL "sukima_cli")
      target_precompile_headers(${target} PRIVATE <CLI/CLI.hpp> <fmt/format.h> <nlohmann/json.hpp>)
    else()
      target_precompile_headers(${target} REUSE_FROM sukima_cli)
    endif()
  endforeach()
endfunction()

# sukima_add_command(NAME source… [LIBRARIES library…] [COMPONENT component]): the library sukima_cli_NAME. With a
# COMPONENT, the command is the program sukima-NAME, which is installed with that component, as is its manual page.
function(sukima_add_command name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "COMPONENT" "LIBRARIES")
  list(TRANSFORM arg_UNPARSED_ARGUMENTS PREPEND ${name}/ OUTPUT_VARIABLE sources)
  sukima_add_cli_library(sukima_cli_${name} ${sources} LIBRARIES ${arg_LIBRARIES} sukima_cli)
  if(NOT arg_COMPONENT)
    return()
  endif()
  add_executable(sukima-${name} ${name}/main.cpp)
  target_link_libraries(sukima-${name} PRIVATE sukima_cli_${name} $<BUILD_INTERFACE:sukima_warnings>)
  sukima_compile_quickly(sukima-${name})
  # `sukima` looks for it in this folder, in the build folder and after the installation.
  set_target_properties(sukima-${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/libexec/sukima)
  install(TARGETS sukima-${name} RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/sukima COMPONENT ${arg_COMPONENT})
  set_property(GLOBAL APPEND PROPERTY SUKIMA_COMMAND_PROGRAMS sukima-${name})
endfunction()
