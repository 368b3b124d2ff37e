# SPDX-License-Identifier: Apache-2.0
# Read by CPack after each kind of package is made. What Debian's policy demands beyond CPack is the work of a script.
if(CPACK_GENERATOR STREQUAL "DEB")
  execute_process(COMMAND ${CPACK_SUKIMA_FINISH_DEB} ${CPACK_PACKAGE_FILES} COMMAND_ERROR_IS_FATAL ANY)
endif()
