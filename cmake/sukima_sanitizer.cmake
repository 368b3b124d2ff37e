# SPDX-License-Identifier: Apache-2.0
# SUKIMA_SANITIZER: compiles and links everything with a sanitizer; the first report ends the program.
if(SUKIMA_SANITIZER STREQUAL "thread")
  set(flags -fsanitize=thread)
elseif(SUKIMA_SANITIZER STREQUAL "address")
  set(flags -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(NOT SUKIMA_SANITIZER STREQUAL "")
  message(FATAL_ERROR "SUKIMA_SANITIZER is '${SUKIMA_SANITIZER}'; give thread, address, or nothing")
endif()
if(SUKIMA_SANITIZER)
  # -g1: lines for the reports; all of -g would take a quarter of the compiler's time.
  add_compile_options(${flags} -O1 -g1 -fno-omit-frame-pointer)
  # A sanitizer's checks disturb the analysis of g++, which then reports uninitialised values (std::optional).
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_link_options(${flags})
endif()
