# SPDX-License-Identifier: Apache-2.0
# Makes Boost.Context's two assembler functions a part of libsukima if Boost is installed as a static library. Then
# programs that link libsukima need no Boost. Only the runtime calls these functions.
find_library(SUKIMA_CONTEXT_ARCHIVE libboost_context.a)
mark_as_advanced(SUKIMA_CONTEXT_ARCHIVE)
set(SUKIMA_CONTEXT_OBJECTS "")
if(SUKIMA_CONTEXT_ARCHIVE AND NOT BUILD_SHARED_LIBS)
  execute_process(COMMAND ${CMAKE_AR} t ${SUKIMA_CONTEXT_ARCHIVE} OUTPUT_VARIABLE members)
  string(REGEX MATCHALL "(jump|make)_[^\n]*" members "${members}")
  set(folder ${PROJECT_BINARY_DIR}/boost_context)
  file(MAKE_DIRECTORY ${folder})
  execute_process(COMMAND ${CMAKE_AR} x ${SUKIMA_CONTEXT_ARCHIVE} ${members} WORKING_DIRECTORY ${folder}
    RESULT_VARIABLE failed)
  list(LENGTH members count)
  if(NOT failed AND count EQUAL 2)
    list(TRANSFORM members PREPEND ${folder}/ OUTPUT_VARIABLE SUKIMA_CONTEXT_OBJECTS)
  endif()
endif()

# sukima_link_context(TARGET) gives a target Boost.Context.
function(sukima_link_context target)
  if(SUKIMA_CONTEXT_OBJECTS)
    set_source_files_properties(${SUKIMA_CONTEXT_OBJECTS} PROPERTIES EXTERNAL_OBJECT ON)
    target_sources(${target} PRIVATE ${SUKIMA_CONTEXT_OBJECTS})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:Boost::headers>)
  else()
    target_link_libraries(${target} PRIVATE Boost::context)
  endif()
endfunction()
