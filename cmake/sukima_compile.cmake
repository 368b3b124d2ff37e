# SPDX-License-Identifier: Apache-2.0
# Compiles sources whose own speed does not matter: tests, tools, the command line, the compiler's front end.
option(SUKIMA_UNITY_BUILD
  "Compile a dozen sources of the command line, the compiler, the capacity library and the tests at a time" ON)
# For many sources at a time. g++ warns of a class with a member from an anonymous namespace in every file but the main one.
# It frees memory only beyond 768 MiB here: that would take a tenth of its time. None needs more than 1.2 GiB so.
set(sukima_many_sources
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=786432>)

# -Og takes g++ a fifth less time than -O1, and inlines small functions, too.
set(sukima_quick_optimisation $<IF:$<COMPILE_LANG_AND_ID:CXX,GNU>,-Og,-O1>)

# sukima_compile_quickly(TARGET…) compiles these targets with -Og (clang: -O1), a dozen sources at a time (CMake's unity
# build).
# One by one, most of the time would go into reading the same headers again. It is not for programs that are measured,
# nor for the runtime, whose functions must not be inlined into each other across a switch of fibers.
function(sukima_compile_quickly)
  foreach(target IN LISTS ARGN)
    if(NOT TARGET ${target})
      continue()
    endif()
    if(SUKIMA_UNITY_BUILD)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
      target_compile_options(${target} PRIVATE ${sukima_many_sources})
    endif()
    if(CMAKE_BUILD_TYPE STREQUAL "Release")
      # g++ 12 considers some std::optional objects uninitialised that are never read while empty.
      target_compile_options(${target} PRIVATE
        ${sukima_quick_optimisation} $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
    elseif(SUKIMA_SANITIZER STREQUAL "address")
      # AddressSanitizer and UBSan check each access at -O0, too, and g++ takes half the time.
      target_compile_options(${target} PRIVATE -O0)
    endif()
  endforeach()
endfunction()

# sukima_compile_by_folder(TARGET [FOLDER…]) compiles the target's sources of each folder, or of these folders only, at
# once, with the target's own optimisation. Most sources of a folder read the same headers.
function(sukima_compile_by_folder target)
  if(NOT SUKIMA_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_compile_options(${target} PRIVATE ${sukima_many_sources})
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    if(NOT ARGN OR folder IN_LIST ARGN)
      string(REPLACE / _ group "${folder}")
      if(group STREQUAL "")
        set(group all)
      endif()
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
endfunction()

# Touches each page of a large stack frame, so that none skips the guard of a fiber (docs/pitfalls.md). The package
# gives it to programs that use the library; frames below a page, such as those of forks, get no instruction more.
set(sukima_stack_probes
  "$<$<OR:$<COMPILE_LANG_AND_ID:C,GNU,Clang>,$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>>:-fstack-clash-protection>")

# sukima_precompile(HEADER TARGET…) precompiles HEADER for the targets' C++ sources, each of which includes it or most of
# its headers. Reading it takes three quarters of their time.
function(sukima_precompile header)
  foreach(target IN LISTS ARGN)
    if(TARGET ${target})
      target_precompile_headers(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${header}>)
    endif()
  endforeach()
endfunction()

# sukima_precompile_once(HEADER TARGET…) precompiles HEADER, such as <sukima/sukima.hpp>, once for all these targets. They
# have the same options, and each of their sources includes it anyway, so that it compiles without this, too.
function(sukima_precompile_once header first)
  target_precompile_headers(${first} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${header}>)
  foreach(target IN LISTS ARGN)
    target_precompile_headers(${target} REUSE_FROM ${first})
  endforeach()
endfunction()
