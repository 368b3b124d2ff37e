# SPDX-License-Identifier: Apache-2.0
# Which parts of Sukima are built. A project that includes Sukima gets the runtime and the capacity library; each other
# part needs its option.
include(CMakeDependentOption)
option(SUKIMA_BUILD_CLI "Build the program sukima, with sukima calibrate" ${PROJECT_IS_TOP_LEVEL})
option(SUKIMA_BUILD_OBJECTS "Build concurrent objects, a part of libsukima, and sukima objects" ${PROJECT_IS_TOP_LEVEL})
option(SUKIMA_BUILD_CLUSTER "Build libsukima-cluster, its MPI plug-ins and sukima cluster" ${PROJECT_IS_TOP_LEVEL})
option(SUKIMA_BUILD_LANGUAGE "Build the Tascell language" ${PROJECT_IS_TOP_LEVEL})
option(SUKIMA_BUILD_HOST "Build sukima host and sukima guest" ${SUKIMA_BUILD_CLI})
option(SUKIMA_BUILD_LAB "Build what measures Sukima, the folder lab: sukima bench, sukima lab, benchmark programs"
  ${SUKIMA_BUILD_CLI})
option(SUKIMA_BUILD_JAVA "Build nested functions for Java, where there is a JDK" ${PROJECT_IS_TOP_LEVEL})
cmake_dependent_option(SUKIMA_BUILD_BENCHMARKS "Build the benchmark programs that `sukima bench` starts"
  ${PROJECT_IS_TOP_LEVEL} SUKIMA_BUILD_LAB OFF)
set(is_default OFF)
if(SUKIMA_BUILD_LANGUAGE AND (SUKIMA_BUILD_CLI OR NOT PROJECT_IS_TOP_LEVEL))
  set(is_default ON)
endif()
option(SUKIMA_BUILD_COMPILER "Build the compiler of the Tascell language, `sukima cc`" ${is_default})

# sukima_needs(OPTION NEEDED): OPTION makes sense only together with NEEDED.
function(sukima_needs option needed)
  if(${option} AND NOT ${needed})
    message(FATAL_ERROR "${option}=ON needs ${needed}=ON: set ${needed}=ON, or ${option}=OFF")
  endif()
endfunction()
sukima_needs(SUKIMA_BUILD_HOST SUKIMA_BUILD_CLI)
sukima_needs(SUKIMA_BUILD_LAB SUKIMA_BUILD_CLI)
sukima_needs(SUKIMA_BUILD_COMPILER SUKIMA_BUILD_LANGUAGE)
if(CMAKE_CROSSCOMPILING)
  set(SUKIMA_BUILD_CLUSTER OFF) # the libraries that it needs are those of this machine
endif()

# sukima_refuse_missing_parts(): stops with one sentence if a target links a part of Sukima that is left out.
function(sukima_refuse_missing_parts)
  sukima_targets_below(${CMAKE_SOURCE_DIR} targets)
  foreach(target IN LISTS targets)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    get_target_property(passed_on ${target} INTERFACE_LINK_LIBRARIES)
    list(APPEND libraries ${passed_on})
    foreach(part OBJECTS CLUSTER)
      string(TOLOWER ${part} name)
      if(NOT TARGET sukima::${name} AND "sukima::${name}" IN_LIST libraries)
        message(FATAL_ERROR "The target '${target}' links sukima::${name}, which is left out: set "
          "SUKIMA_BUILD_${part}=ON before Sukima is added, or configure with -DSUKIMA_BUILD_${part}=ON")
      endif()
    endforeach()
  endforeach()
endfunction()
