# SPDX-License-Identifier: Apache-2.0
# Builds with ccache if it is installed; -DCMAKE_CXX_COMPILER_LAUNCHER= builds without it. Its settings let every clone
# of the sources, in any folder, use the objects of another one. Paths below the source folder count as relative. The
# headers of a fresh clone are younger than the compilation; they count as unchanged if their text is.
# CCACHE_DEPEND compares the text of the headers, not the preprocessed source. The latter is the same after a change of
# a comment, but `#pragma once` of an older precompiled header does not recognise the changed file, and includes it
# again.
find_program(SUKIMA_CCACHE ccache)
mark_as_advanced(SUKIMA_CCACHE)
if(SUKIMA_CCACHE)
  set(launcher env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${SUKIMA_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher} CACHE STRING "What starts the C compiler")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher} CACHE STRING "What starts the C++ compiler")
  add_compile_options(
    # Otherwise debug information would name the folder of the clone that compiled first.
    -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.
    # Without it, ccache does not cache sources with a precompiled header.
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()
