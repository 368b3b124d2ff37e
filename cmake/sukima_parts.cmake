# SPDX-License-Identifier: Apache-2.0
# Functions for folders of the sources: sukima_add_parts and sukima_targets_below.

# sukima_add_parts(FOLDER…) adds the folders, except those that this copy of the sources lacks.
function(sukima_add_parts)
  foreach(part IN LISTS ARGN)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${part}/CMakeLists.txt)
      add_subdirectory(${part})
    endif()
  endforeach()
endfunction()

# sukima_targets_below(FOLDER RESULT) stores the targets of FOLDER that are part of `all`.
function(sukima_targets_below folder result)
  get_property(candidates DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  set(targets "")
  foreach(target IN LISTS candidates)
    get_target_property(is_left_out ${target} EXCLUDE_FROM_ALL)
    if(NOT is_left_out)
      list(APPEND targets ${target})
    endif()
  endforeach()
  foreach(below IN LISTS folders)
    sukima_targets_below(${below} more)
    list(APPEND targets ${more})
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()
