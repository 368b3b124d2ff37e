# SPDX-License-Identifier: Apache-2.0
# Packages, by CPack: .deb packages, and a .tar.gz that works in any folder because it brings every library but the C
# library. `make package` and `make wheel` use it; docs/packages.md and docs/packaging.md describe them.
if(NOT SUKIMA_BUILD_CLI OR SUKIMA_SANITIZER OR NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  return()
endif()

find_package(fmt REQUIRED)
set(portable ${PROJECT_BINARY_DIR}/portable)
file(RELATIVE_PATH libraries_from_bin /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR}/sukima)
file(RELATIVE_PATH libraries_from_libexec /${CMAKE_INSTALL_LIBEXECDIR}/sukima /${CMAKE_INSTALL_LIBDIR}/sukima)
get_property(commands GLOBAL PROPERTY SUKIMA_COMMAND_PROGRAMS)
set_target_properties(sukima PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries_from_bin}")
set_target_properties(${commands} PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries_from_libexec}")

# The programs' libraries: `bundle` is for the .tar.gz and the wheel, `portable` only for the .tar.gz.
set(bundle ${PROJECT_SOURCE_DIR}/scripts/bundle-libraries.sh)
set(bundles "")
foreach(program sukima ${commands})
  # An rpath, not a runpath: the loader also searches it for the libraries of a library.
  target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
  set(component portable)
  if(program MATCHES "^sukima(-calibrate)?$")
    set(component bundle)
  endif()
  add_custom_command(OUTPUT ${portable}/${program}.done
    COMMAND ${bundle} ${portable}/${program} $<TARGET_FILE:${program}> libcli11-dev nlohmann-json3-dev
    COMMAND ${CMAKE_COMMAND} -E touch ${portable}/${program}.done
    DEPENDS ${program} ${bundle}
    COMMENT "Collecting the libraries of ${program}"
    VERBATIM)
  list(APPEND bundles ${portable}/${program}.done)
  install(DIRECTORY ${portable}/${program}/lib/ DESTINATION ${CMAKE_INSTALL_LIBDIR}/sukima
    COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(DIRECTORY ${portable}/${program}/licenses DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/sukima
    COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
add_custom_target(sukima_bundle DEPENDS ${bundles})
# `sukima bench` measures programs of others, too; the benchmark programs are in a package, because of their libraries.
if(SUKIMA_BUILD_LAB)
  install(TARGETS sukima-bench RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/sukima
    COMPONENT portable EXCLUDE_FROM_ALL)
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/lab/scripts/plot-bench.py DESTINATION ${CMAKE_INSTALL_DATADIR}/sukima
    COMPONENT portable EXCLUDE_FROM_ALL)
endif()

# The compiler with Clang inside: Clang's shared libraries and what they need would be five times as large.
if(TARGET sukima_cc)
  set(portable_compiler ${portable}/sukima-cc)
  get_filename_component(llvm ${SUKIMA_LLVM_LIBRARY} DIRECTORY)
  set(clang_libraries "")
  foreach(name Tooling ToolingInclusions ToolingCore Frontend Driver Parse Serialization Sema AnalysisFlowSensitive
      Analysis Edit Rewrite ASTMatchers AST Support APINotes Lex Basic)
    if(EXISTS ${llvm}/libclang${name}.a)
      list(APPEND clang_libraries ${llvm}/libclang${name}.a)
    endif()
  endforeach()
  find_program(SUKIMA_LLVM_CONFIG NAMES llvm-config llvm-config-19 HINTS ${llvm}/../bin)
  mark_as_advanced(SUKIMA_LLVM_CONFIG)
  execute_process(COMMAND ${SUKIMA_LLVM_CONFIG} --link-static --libfiles
      option support targetparser frontendopenmp bitreader mc profiledata windowsdriver
    OUTPUT_VARIABLE llvm_libraries OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  separate_arguments(llvm_libraries UNIX_COMMAND "${llvm_libraries}")
  add_custom_command(OUTPUT ${portable_compiler}
    COMMAND ${CMAKE_CXX_COMPILER} -O3 -s -o ${portable_compiler} $<TARGET_OBJECTS:sukima_cc>
            $<TARGET_FILE:sukima_translator> $<TARGET_FILE:sukima_base> $<TARGET_FILE:fmt::fmt>
            -Wl,--start-group ${clang_libraries} -Wl,--end-group ${llvm_libraries}
            -Wl,--gc-sections -Wl,--as-needed -Wl,--disable-new-dtags
            "-Wl,-rpath,$ORIGIN/${libraries_from_libexec}"
            -ldl -lm -l:libz.so.1 -l:libzstd.so.1
    DEPENDS sukima_cc sukima_translator sukima_base
    COMMENT "Linking sukima-cc with Clang's static libraries"
    COMMAND_EXPAND_LISTS
    VERBATIM)
  add_custom_command(OUTPUT ${portable}/compiler.done
    COMMAND ${bundle} ${portable}/compiler ${portable_compiler} libclang-19-dev llvm-19-dev
          libboost-context1.74-dev
    COMMAND ${CMAKE_COMMAND} -E touch ${portable}/compiler.done
    DEPENDS ${portable_compiler} ${bundle}
    COMMENT "Collecting the libraries of sukima-cc"
    VERBATIM)
  add_custom_target(sukima_portable_compiler DEPENDS ${portable}/compiler.done)
  install(PROGRAMS ${portable_compiler} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/sukima
    COMPONENT portable EXCLUDE_FROM_ALL)
  install(FILES ${portable}/toolchain.json DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/sukima
    COMPONENT portable EXCLUDE_FROM_ALL)
  install(DIRECTORY ${portable}/compiler/lib/ DESTINATION ${CMAKE_INSTALL_LIBDIR}/sukima
    COMPONENT portable EXCLUDE_FROM_ALL)
  install(DIRECTORY ${portable}/compiler/licenses DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/sukima
    COMPONENT portable EXCLUDE_FROM_ALL)
  install(DIRECTORY ${SUKIMA_CLANG_RESOURCES}/include DESTINATION ${CMAKE_INSTALL_LIBDIR}/sukima/clang
    COMPONENT portable EXCLUDE_FROM_ALL)
endif()

# All targets that a package contains, without tests and examples.
set(packaged sukima ${commands} sukima_preload sukima_runtime sukima_capacity ${shared_libraries} sukima_bundle)
foreach(target sukima_cluster sukima_cc sukima_portable_compiler)
  if(TARGET ${target})
    list(APPEND packaged ${target})
  endif()
endforeach()

# The Python wheel: the folder python around the program, its libraries and libsukima-capacity.so.
if(shared_libraries)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  file(GLOB_RECURSE python_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/*.py ${PROJECT_SOURCE_DIR}/python/*.md)
  add_custom_command(OUTPUT ${portable}/wheel.done
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/python/build_wheel.py --cmake ${CMAKE_COMMAND}
            --build ${PROJECT_BINARY_DIR} --libdir ${CMAKE_INSTALL_LIBDIR} --version ${PROJECT_VERSION}
            --output ${PROJECT_BINARY_DIR}/packages
    COMMAND ${CMAKE_COMMAND} -E touch ${portable}/wheel.done
    DEPENDS ${python_files} sukima sukima-calibrate sukima_preload ${shared_libraries} ${portable}/sukima.done
      ${portable}/sukima-calibrate.done
    COMMENT "Packing the Python wheel"
    VERBATIM)
  add_custom_target(sukima_wheel ALL DEPENDS ${portable}/wheel.done)
endif()

add_custom_target(sukima_packaged)
add_dependencies(sukima_packaged ${packaged})
if(SUKIMA_BUILD_BENCHMARKS)
  sukima_targets_below(${PROJECT_SOURCE_DIR}/lab/benchmarks programs)
  add_dependencies(sukima_packaged ${programs})
endif()

set(CPACK_PACKAGE_NAME sukima)
set(CPACK_PACKAGE_VENDOR "Sukima")
set(CPACK_PACKAGE_CONTACT "The Sukima maintainers <maintainers@sukima.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGE_FILE_NAME sukima-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/sukima_package_kinds.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/sukima_finish_deb.cmake)
set(CPACK_SUKIMA_FINISH_DEB ${PROJECT_SOURCE_DIR}/scripts/finish-deb.sh)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)

# Debian.
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(same_version "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(runtime_package libsukima${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

# sukima_debian_package(COMPONENT NAME SECTION DEPENDS SUMMARY): the package of a component, with its copyright file.
macro(sukima_debian_package component name section depends summary)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}")
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name}
    RENAME copyright COMPONENT ${component})
endmacro()

sukima_debian_package(runtime ${runtime_package} libs "" "fork-join and parallel search: shared libraries
The runtime of Sukima for C++ programs, and the library that says how many
CPUs a process may use.")
set(boost "")
if(SUKIMA_NEEDS_BOOST)
  set(boost ", libboost-context-dev")
endif()
set(nettle "")
if(TARGET sukima_cluster)
  set(nettle ", nettle-dev")
endif()
sukima_debian_package(devel libsukima-dev libdevel "${runtime_package} ${same_version}${boost}${nettle}"
  "fork-join and parallel search: headers and static libraries
Headers, static libraries, and the files for CMake and pkg-config of Sukima,
a work-stealing runtime for C++20 and C.")
sukima_debian_package(tools sukima utils "" "parallel programs on the CPU that they actually get
sukima probe reports how many CPUs can be used here and why, sukima run starts
any parallel program with as many threads, and sukima explain reports where a
run's time went. Other packages have the other commands.")
set(components runtime devel tools)
set(others "")
# sukima_command_package(COMPONENT SUMMARY): the package sukima-COMPONENT of commands that are programs of their own.
macro(sukima_command_package component summary)
  sukima_debian_package(${component} sukima-${component} utils "sukima ${same_version}" "${summary}")
  list(APPEND components ${component})
  list(APPEND others sukima-${component})
endmacro()
if(SUKIMA_BUILD_CLUSTER)
  sukima_command_package(cluster "parallel programs on several nodes
sukima cluster starts a program on several machines, whose nodes share its
tasks.")
endif()
if(SUKIMA_BUILD_HOST)
  sukima_command_package(host "CPU that the virtual machines of a host can use
sukima host reports how many CPUs each virtual machine can use, and finds the
best number of threads; sukima guest is the service inside the machines.")
endif()
if(SUKIMA_BUILD_LAB)
  sukima_command_package(lab "experiments on programs that lack CPU
sukima lab repeats experiments in control groups and in virtual machines, and
reports what they show.")
  string(APPEND CPACK_DEBIAN_LAB_PACKAGE_DEPENDS ", python3") # plot-lab.py
  set(CPACK_DEBIAN_LAB_PACKAGE_SUGGESTS "sukima-bench, qemu-system-x86, python3-matplotlib")
endif()
if(SUKIMA_BUILD_OBJECTS)
  sukima_command_package(objects "plans for programs of concurrent objects
sukima objects records such a program, predicts how long it takes under each
execution model, and plans it.")
endif()
if(TARGET sukima_cc)
  sukima_debian_package(compiler sukima-cc devel
    "sukima ${same_version}, libsukima-dev ${same_version}, g++, libclang-common-19-dev"
    "compiler of the Tascell language
sukima cc compiles C with the constructs of the Tascell language, which splits
a search between the CPUs by temporary backtracking. Used like gcc.")
  list(APPEND components compiler)
endif()
if(SUKIMA_BUILD_LAB)
  sukima_command_package(bench "comparison of parallel runtimes
sukima bench measures the same problems written for Sukima, TBB, OpenMP, rayon
and others.")
  string(APPEND CPACK_DEBIAN_BENCH_PACKAGE_DEPENDS ", python3") # plot-bench.py
  set(CPACK_DEBIAN_BENCH_PACKAGE_SUGGESTS "python3-matplotlib")
endif()
if(TARGET sukima_cc)
  list(APPEND others sukima-cc)
endif()
list(JOIN others ", " suggested)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "${suggested}")
set(CPACK_COMPONENTS_ALL ${components})
include(CPack)
