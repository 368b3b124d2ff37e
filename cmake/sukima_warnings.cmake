# SPDX-License-Identifier: Apache-2.0
# The interface library sukima_warnings: the warnings that our own sources must be free of. Link it as
#   target_link_libraries(TARGET PRIVATE $<BUILD_INTERFACE:sukima_warnings>)
# so that neither consumers nor an installation see it.
add_library(sukima_warnings INTERFACE)
# -Wrestrict of g++ 12 warns of every "text" + std::string at -O3 (its bug 105651, repaired in 13).
target_compile_options(sukima_warnings INTERFACE
  -Wall
  -Wextra
  -Wpedantic
  -Wshadow
  -Wconversion
  -Wcast-align
  -Wformat=2
  -Wundef
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
  $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
  $<$<COMPILE_LANGUAGE:CXX>:-Wextra-semi>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wsuggest-override>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wduplicated-cond>
  $<$<COMPILE_LANG_AND_ID:C,GNU>:-Wduplicated-cond>
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<BOOL:${SUKIMA_WARNINGS_AS_ERRORS}>:-Werror>)
