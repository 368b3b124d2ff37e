# SPDX-License-Identifier: Apache-2.0
# Runs PROGRAM, with EMULATOR if that is set. The program must end with code 0, and its whole output must match the
# regular expression in the file EXPECTED.
execute_process(COMMAND ${EMULATOR} ${PROGRAM} OUTPUT_VARIABLE output RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with '${result}' and printed:\n${output}")
endif()
file(READ ${EXPECTED} pattern)
string(STRIP "${pattern}" pattern)
string(STRIP "${output}" output)
if(NOT output MATCHES "^${pattern}$")
  message(FATAL_ERROR "${PROGRAM} printed:\n${output}\nwhich does not match ${EXPECTED}:\n${pattern}")
endif()
