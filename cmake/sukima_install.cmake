# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: the libraries with their headers, CMake package and pkg-config files, man pages
# and completions. The program and the benchmark programs are installed by their own folders.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/sukima)
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(templates ${CMAKE_CURRENT_LIST_DIR})

install(TARGETS sukima_capacity sukima_runtime EXPORT sukimaTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/sukima
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp"
  PATTERN calibrate.hpp EXCLUDE)

get_target_property(SUKIMA_RUNTIME_TYPE sukima_runtime TYPE)
install(EXPORT sukimaTargets NAMESPACE sukima:: DESTINATION ${package_folder})
configure_package_config_file(${templates}/sukimaConfig.cmake.in sukimaConfig.cmake
  INSTALL_DESTINATION ${package_folder}
  NO_SET_AND_CHECK_MACRO)
# 0.x: a new minor version may break its users.
write_basic_package_version_file(sukimaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
if(SUKIMA_BUILD_COMPILER)
  install(FILES ${templates}/sukima_language.cmake DESTINATION ${package_folder})
endif()
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sukimaConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/sukimaConfigVersion.cmake
  DESTINATION ${package_folder})

# Who links the static library links what that needs, too; the shared one brings it along.
set(pkgconfig_requires "")
set(pkgconfig_libraries "-lsukima -pthread")
if(SUKIMA_RUNTIME_TYPE STREQUAL "STATIC_LIBRARY")
  set(pkgconfig_requires "sukima-capacity")
  string(APPEND pkgconfig_libraries " -lboost_context")
endif()
# A prefix that follows the file makes an installed tree movable; an absolute folder has to stay where it is.
macro(sukima_pkgconfig_folder variable folder)
  if(IS_ABSOLUTE ${folder})
    set(${variable} ${folder})
  else()
    set(${variable} "\${prefix}/${folder}")
  endif()
endmacro()
sukima_pkgconfig_folder(pkgconfig_libdir ${CMAKE_INSTALL_LIBDIR})
sukima_pkgconfig_folder(pkgconfig_includedir ${CMAKE_INSTALL_INCLUDEDIR})
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(pkgconfig_prefix ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH up /${pkgconfig_folder} /)
  string(REGEX REPLACE "/$" "" up ${up})
  set(pkgconfig_prefix "\${pcfiledir}/${up}")
endif()
foreach(file sukima.pc sukima-capacity.pc)
  configure_file(${templates}/${file}.in ${file} @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${file} DESTINATION ${pkgconfig_folder})
endforeach()

if(SUKIMA_BUILD_CLI)
  file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.1)
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  function(sukima_install_completion file folder)
    if(EXISTS ${PROJECT_SOURCE_DIR}/completions/${file})
      install(FILES ${PROJECT_SOURCE_DIR}/completions/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} ${ARGN})
    endif()
  endfunction()
  sukima_install_completion(sukima.bash bash-completion/completions RENAME sukima)
  sukima_install_completion(_sukima zsh/site-functions)
  sukima_install_completion(sukima.fish fish/vendor_completions.d)
endif()
