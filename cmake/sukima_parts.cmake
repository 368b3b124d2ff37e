# SPDX-License-Identifier: Apache-2.0
# sukima_add_parts(FOLDER…) adds those of the folders that this copy of the sources has.
function(sukima_add_parts)
  foreach(part IN LISTS ARGN)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${part}/CMakeLists.txt)
      add_subdirectory(${part})
    endif()
  endforeach()
endfunction()
