# SPDX-License-Identifier: Apache-2.0
# Installs the libraries with their headers, CMake package and pkg-config files, the manual pages and the completions.
# The folders of the programs install those.
#
# The components become packages (sukima_package.cmake): runtime, devel, tools, compiler, bench, and one for each part
# with a command of its own: cluster, host, lab, objects.
include(CMakePackageConfigHelpers)

# A static build also makes the shared libraries, from the same object files.
get_target_property(SUKIMA_RUNTIME_TYPE sukima_runtime TYPE)
set(shared_libraries "")
if(SUKIMA_RUNTIME_TYPE STREQUAL "STATIC_LIBRARY" AND NOT SUKIMA_SANITIZER)
  set(abi ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}) # 0.x: a new minor version may break its users
  find_package(Boost 1.74 REQUIRED COMPONENTS context)
  find_package(Threads REQUIRED)
  add_library(sukima_shared SHARED $<TARGET_OBJECTS:sukima_runtime> $<TARGET_OBJECTS:sukima_capacity>)
  target_link_libraries(sukima_shared PUBLIC Threads::Threads PRIVATE m)
  if(SUKIMA_CONTEXT_OBJECTS)
    set_source_files_properties(${SUKIMA_CONTEXT_OBJECTS} PROPERTIES EXTERNAL_OBJECT ON)
    target_sources(sukima_shared PRIVATE ${SUKIMA_CONTEXT_OBJECTS})
  else()
    target_link_libraries(sukima_shared PRIVATE Boost::context)
  endif()
  sukima_take_itt_objects(sukima_shared)
  target_compile_features(sukima_shared INTERFACE cxx_std_20)
  target_compile_options(sukima_shared INTERFACE ${sukima_stack_probes})
  set_target_properties(sukima_shared PROPERTIES OUTPUT_NAME sukima EXPORT_NAME shared LINKER_LANGUAGE CXX)
  add_library(sukima_capacity_shared SHARED $<TARGET_OBJECTS:sukima_capacity>)
  target_link_libraries(sukima_capacity_shared PRIVATE m)
  set_target_properties(sukima_capacity_shared PROPERTIES
    OUTPUT_NAME sukima-capacity EXPORT_NAME capacity_shared LINKER_LANGUAGE C)
  set(shared_libraries sukima_shared sukima_capacity_shared)
  if(TARGET sukima_cluster)
    add_library(sukima_cluster_shared SHARED $<TARGET_OBJECTS:sukima_cluster>)
    target_link_libraries(sukima_cluster_shared PUBLIC sukima_shared PRIVATE PkgConfig::nettle)
    target_compile_features(sukima_cluster_shared INTERFACE cxx_std_20)
    set_target_properties(sukima_cluster_shared PROPERTIES
      OUTPUT_NAME sukima-cluster EXPORT_NAME cluster_shared LINKER_LANGUAGE CXX)
    list(APPEND shared_libraries sukima_cluster_shared)
  endif()
  foreach(library IN LISTS shared_libraries)
    target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_options(${library} PRIVATE
      -Wl,-z,defs -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/shared_library.map)
    set_target_properties(${library} PROPERTIES
      VERSION ${PROJECT_VERSION} SOVERSION ${abi} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  endforeach()
endif()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/sukima)
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(templates ${CMAKE_CURRENT_LIST_DIR})

# The cluster is in a set of its own, which CMake reads only on request: it needs nettle.
set(main_libraries sukima_capacity sukima_runtime sukima_pstl sukima_tbb ${shared_libraries})
set(cluster_libraries ${main_libraries})
list(FILTER main_libraries EXCLUDE REGEX cluster)
list(FILTER cluster_libraries INCLUDE REGEX cluster)
if(TARGET sukima_objects)
  list(APPEND main_libraries sukima_objects)
endif()
install(TARGETS ${main_libraries} EXPORT sukimaTargets
  ARCHIVE COMPONENT devel
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT devel)
if(TARGET sukima_cluster)
  set_target_properties(sukima_cluster PROPERTIES OUTPUT_NAME sukima-cluster EXPORT_NAME cluster)
  # A program with the static library finds the plug-ins for MPI that are installed with it.
  if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    target_link_options(sukima_cluster INTERFACE
      "$<INSTALL_INTERFACE:-Wl,-rpath,$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/sukima>")
  endif()
  install(TARGETS sukima_cluster ${cluster_libraries} EXPORT sukimaClusterTargets
    ARCHIVE COMPONENT devel
    LIBRARY COMPONENT runtime NAMELINK_COMPONENT devel)
  install(EXPORT sukimaClusterTargets NAMESPACE sukima::
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sukima COMPONENT devel)
endif()
set(left_out PATTERN calibrate.hpp EXCLUDE)
foreach(part objects cluster)
  if(NOT TARGET sukima_${part})
    list(APPEND left_out REGEX "/sukima/${part}($|[.])" EXCLUDE)
  endif()
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/sukima
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT devel
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "execution"
  ${left_out})

set(SUKIMA_NEEDS_BOOST OFF)
if(SUKIMA_RUNTIME_TYPE STREQUAL "STATIC_LIBRARY" AND NOT SUKIMA_CONTEXT_OBJECTS)
  set(SUKIMA_NEEDS_BOOST ON)
endif()
install(EXPORT sukimaTargets NAMESPACE sukima:: DESTINATION ${package_folder} COMPONENT devel)
configure_package_config_file(${templates}/sukimaConfig.cmake.in sukimaConfig.cmake
  INSTALL_DESTINATION ${package_folder}
  NO_SET_AND_CHECK_MACRO)
# 0.x: a new minor version may break its users.
write_basic_package_version_file(sukimaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
if(SUKIMA_BUILD_COMPILER)
  install(FILES ${templates}/sukima_language.cmake DESTINATION ${package_folder} COMPONENT devel)
endif()
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sukimaConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/sukimaConfigVersion.cmake
  DESTINATION ${package_folder} COMPONENT devel)

# pkg-config --static adds the libraries that the static library needs.
set(pkgconfig_private "-lstdc++ -lm")
if(SUKIMA_NEEDS_BOOST)
  string(APPEND pkgconfig_private " -lboost_context")
endif()
# A prefix relative to the file makes an installed tree movable. An absolute folder cannot be moved.
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
set(pkgconfig_files sukima.pc sukima-capacity.pc sukima-pstl.pc sukima-tbb.pc)
if(TARGET sukima_cluster)
  list(APPEND pkgconfig_files sukima-cluster.pc)
endif()
foreach(file IN LISTS pkgconfig_files)
  configure_file(${templates}/${file}.in ${file} @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${file} DESTINATION ${pkgconfig_folder} COMPONENT devel)
endforeach()

# The documentation with its pictures and examples, in the same folders as in the sources, so that links work.
set(documents ${CMAKE_INSTALL_DATADIR}/doc/sukima)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  ${PROJECT_SOURCE_DIR}/CITATION.cff ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md ${PROJECT_SOURCE_DIR}/SECURITY.md
  DESTINATION ${documents} COMPONENT devel)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples DESTINATION ${documents}
  COMPONENT devel
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png" PATTERN "*.cpp" PATTERN "*.c" PATTERN "*.tc"
  PATTERN "*.h"
  PATTERN man EXCLUDE)

# The capacity library for other languages, as sources that their own tools build.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings DESTINATION ${CMAKE_INSTALL_DATADIR}/sukima COMPONENT devel
  USE_SOURCE_PERMISSIONS
  PATTERN target EXCLUDE PATTERN "*.node" EXCLUDE)

if(SUKIMA_BUILD_CLI)
  set(component_of_bench bench)
  set(component_of_cc compiler)
  set(component_of_cluster cluster)
  set(component_of_guest host)
  set(component_of_host host)
  set(component_of_lab lab)
  set(component_of_objects objects)
  file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.1)
  foreach(page IN LISTS pages)
    cmake_path(GET page STEM name)
    string(REPLACE "sukima-" "" name ${name})
    set(component tools)
    if(DEFINED component_of_${name})
      set(component ${component_of_${name}})
    endif()
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${component})
    if(component MATCHES "bench|compiler") # these components are not in the .tar.gz, but their commands are
      install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT portable EXCLUDE_FROM_ALL)
    endif()
  endforeach()
  function(sukima_install_completion file folder)
    if(EXISTS ${PROJECT_SOURCE_DIR}/completions/${file})
      install(FILES ${PROJECT_SOURCE_DIR}/completions/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} ${ARGN}
        COMPONENT tools)
    endif()
  endfunction()
  sukima_install_completion(sukima.bash bash-completion/completions RENAME sukima)
  sukima_install_completion(_sukima zsh/site-functions)
  sukima_install_completion(sukima.fish fish/vendor_completions.d)
  if(TARGET sukima-host)
    foreach(service host guest)
      configure_file(${PROJECT_SOURCE_DIR}/services/sukima-${service}.service.in sukima-${service}.service @ONLY)
      install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sukima-${service}.service DESTINATION lib/systemd/system COMPONENT host)
    endforeach()
    # `cmake --install BUILD --prefix FOLDER` and the Debian packages have another prefix than the configuration. CPack
    # installs into a folder of its own: it says in a variable where the package will be.
    if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_BINDIR})
      install(CODE "
        if(DEFINED ENV{SUKIMA_PACKAGED_PREFIX})
          set(sukima_prefix \"\$ENV{SUKIMA_PACKAGED_PREFIX}\")
        else()
          get_filename_component(sukima_prefix \"\${CMAKE_INSTALL_PREFIX}\" ABSOLUTE)
        endif()
        foreach(service host guest)
          set(sukima_service \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/systemd/system/sukima-\${service}.service\")
          file(READ \"\${sukima_service}\" sukima_text)
          string(REPLACE \"=${CMAKE_INSTALL_FULL_BINDIR}/sukima \" \"=\${sukima_prefix}/${CMAKE_INSTALL_BINDIR}/sukima \" sukima_text
            \"\${sukima_text}\")
          file(WRITE \"\${sukima_service}\" \"\${sukima_text}\")
        endforeach()" COMPONENT host)
    endif()
  endif()
endif()
