# SPDX-License-Identifier: Apache-2.0
# ccache is used where it is installed; -DCMAKE_CXX_COMPILER_LAUNCHER= builds without it. Its settings let every clone of
# the sources, in whatever folder, use what another one has compiled: paths below the source folder count as relative
# ones, and the headers of a fresh clone, which are younger than the compilation, as unchanged when their text is. What
# decides is the text of the headers (CCACHE_DEPEND): what g++ has preprocessed is the same after a change of a comment,
# but a precompiled header from before it has another idea of `#pragma once`, and headers come twice.
find_program(SUKIMA_CCACHE ccache)
mark_as_advanced(SUKIMA_CCACHE)
if(SUKIMA_CCACHE)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${SUKIMA_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher} CACHE STRING "What starts the C compiler")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher} CACHE STRING "What starts the C++ compiler")
  add_compile_options(
    # Otherwise debug information would name the folder of whichever clone compiled first.
    -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.
    # Without it ccache leaves sources with a precompiled header alone.
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()
