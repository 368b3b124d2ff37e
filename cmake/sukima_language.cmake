# SPDX-License-Identifier: Apache-2.0
# sukima_add_executable(NAME source… [OPTIONS option…] [LIBRARIES library…])
# adds a program with sources in the Tascell language (.tc). `sukima cc` compiles these, with the project's C compiler
# as its backend. Its options are CMAKE_C_FLAGS and those of the build type, the include folders and definitions of the
# target, and the OPTIONS. A source is compiled again when a header that it includes changes. In a project without C,
# the backend is gcc or $SUKIMA_CC, and the build type's options are those of C++. CMAKE_C_COMPILER_LAUNCHER starts the
# C compiler, not `sukima cc`.
function(sukima_add_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OPTIONS;LIBRARIES")
  if(NOT arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "sukima_add_executable(${name} …): give at least one source file")
  endif()
  if(SUKIMA_PROGRAM)
    set(compiler ${SUKIMA_PROGRAM} cc)
    set(compiler_file ${SUKIMA_PROGRAM})
  elseif(TARGET sukima_cc)
    set(compiler $<TARGET_FILE:sukima_cc>)
    set(compiler_file sukima_cc)
  else()
    message(FATAL_ERROR "sukima_add_executable(${name} …): this copy of Sukima has no compiler; build it with "
      "-DSUKIMA_BUILD_LANGUAGE=ON, or set SUKIMA_PROGRAM to the program sukima")
  endif()
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  if(CMAKE_C_COMPILER)
    set(backend --backend=${CMAKE_C_COMPILER})
    separate_arguments(flags NATIVE_COMMAND "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${build_type}}")
  else()
    set(backend "")
    separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS_${build_type}}")
  endif()
  set(launcher "${CMAKE_C_COMPILER_LAUNCHER}")
  list(TRANSFORM launcher PREPEND --launcher=)
  set(others "")
  set(objects "")
  foreach(source IN LISTS arg_UNPARSED_ARGUMENTS)
    if(NOT source MATCHES "\\.tc$")
      list(APPEND others ${source})
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE file)
    cmake_path(GET source STEM stem)
    list(LENGTH objects number)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.tascell/${number}-${stem}.o)
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${name}.tascell)
    set(database "")
    if(CMAKE_EXPORT_COMPILE_COMMANDS)
      set(database -MJ ${object}.json)
    endif()
    set(folders "$<TARGET_PROPERTY:${name},INCLUDE_DIRECTORIES>")
    set(definitions "$<TARGET_PROPERTY:${name},COMPILE_DEFINITIONS>")
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${compiler} ${backend} ${launcher} ${flags} ${arg_OPTIONS}
              "$<$<BOOL:${folders}>:-I$<JOIN:${folders},;-I>>"
              "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
              -MD -MT ${object} -MF ${object}.d ${database} -c -o ${object} ${file}
      DEPENDS ${file} ${compiler_file}
      DEPFILE ${object}.d
      COMMENT "Compiling ${source} with sukima cc"
      COMMAND_EXPAND_LISTS
      VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  add_executable(${name} ${others} ${objects})
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} sukima::sukima)
  # The runtime is written in C++.
  if(CMAKE_CXX_COMPILER)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  else()
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
    target_link_libraries(${name} PRIVATE stdc++ m)
  endif()
endfunction()
