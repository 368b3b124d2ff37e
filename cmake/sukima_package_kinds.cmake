# SPDX-License-Identifier: Apache-2.0
# Read by CPack before each kind of package. The .tar.gz has the programs with their libraries and a compiler that
# contains Clang. It has no benchmark programs, which need the libraries of the peers.
if(CPACK_GENERATOR STREQUAL "TGZ")
  list(REMOVE_ITEM CPACK_COMPONENTS_ALL compiler bench)
  list(APPEND CPACK_COMPONENTS_ALL bundle portable)
  set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
  set(ENV{SUKIMA_PACKAGED_PREFIX} /usr/local) # where an operator copies it, so that services find their program
else()
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(ENV{SUKIMA_PACKAGED_PREFIX} /usr)
  # Each package has a summary of its own: the first line of its description.
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
endif()
