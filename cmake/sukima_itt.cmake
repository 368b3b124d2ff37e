# SPDX-License-Identifier: Apache-2.0
# The instrumentation interface of Intel's VTune (ITT), where it is found: as a part of VTune, or as the library ittapi.
# Its object file becomes a part of libsukima, like those of Boost.Context, so programs that link libsukima need no ITT.
# Set SUKIMA_ITT_INCLUDE and SUKIMA_ITT_ARCHIVE where it is elsewhere.
option(SUKIMA_ITT "Show the states of workers as tasks in VTune, where its library ittnotify is found" ON)
set(SUKIMA_ITT_OBJECTS "")
if(SUKIMA_ITT)
  set(folders $ENV{VTUNE_PROFILER_DIR} /opt/intel/oneapi/vtune/latest)
  find_path(SUKIMA_ITT_INCLUDE ittnotify.h HINTS ${folders} PATH_SUFFIXES sdk/include include)
  find_library(SUKIMA_ITT_ARCHIVE NAMES libittnotify.a libittnotify64.a HINTS ${folders} PATH_SUFFIXES sdk/lib64 lib64)
  mark_as_advanced(SUKIMA_ITT_INCLUDE SUKIMA_ITT_ARCHIVE)
endif()
if(SUKIMA_ITT AND SUKIMA_ITT_INCLUDE AND SUKIMA_ITT_ARCHIVE)
  execute_process(COMMAND ${CMAKE_AR} t ${SUKIMA_ITT_ARCHIVE} OUTPUT_VARIABLE members)
  string(REGEX MATCH "ittnotify_static[^\n]*" member "${members}")
  set(folder ${PROJECT_BINARY_DIR}/itt)
  file(MAKE_DIRECTORY ${folder})
  execute_process(COMMAND ${CMAKE_AR} x ${SUKIMA_ITT_ARCHIVE} ${member} WORKING_DIRECTORY ${folder} RESULT_VARIABLE failed)
  if(member AND NOT failed)
    set(SUKIMA_ITT_OBJECTS ${folder}/${member})
  else()
    message(WARNING "${SUKIMA_ITT_ARCHIVE} has no ittnotify_static, so VTune will show no workers; set SUKIMA_ITT_ARCHIVE to the "
      "libittnotify.a of VTune or of ittapi, or SUKIMA_ITT to OFF")
  endif()
endif()

# sukima_link_itt(TARGET) gives a target of the runtime's sources ITT, if it was found.
function(sukima_link_itt target)
  if(SUKIMA_ITT_OBJECTS)
    sukima_take_itt_objects(${target})
    target_include_directories(${target} SYSTEM PRIVATE ${SUKIMA_ITT_INCLUDE})
    target_compile_definitions(${target} PRIVATE SUKIMA_ITT=1)
  endif()
endfunction()

# sukima_take_itt_objects(TARGET) gives a target that is made of the runtime's object files those of ITT, if it was found.
function(sukima_take_itt_objects target)
  set_source_files_properties(${SUKIMA_ITT_OBJECTS} PROPERTIES EXTERNAL_OBJECT ON)
  target_sources(${target} PRIVATE ${SUKIMA_ITT_OBJECTS})
endfunction()
