# kernelrl_add_tests(EXECUTABLE SOURCES … [LIBRARIES …] [DEPENDS …] [DEFINITIONS …] [LABELS …] [TIMEOUT s] [SHARDS n NAME name])
# adds a group of tests to a GoogleTest executable that many groups share. A group has its own labels and timeout, and the
# targets that its tests open or start (DEPENDS). CTest starts a process for each test; with SHARDS n, for many small tests,
# it knows n parts of the group instead, as NAME.0 to NAME.n-1.
# The target LABEL_tests builds all executables with such tests; `ctest -L LABEL` runs these tests. Labels that presets know:
#   core        what the core needs alone; preset `asan` runs these
#   threads     those of the core in which threads meet; preset `tsan` runs these
#   input       what strangers have written goes through it: sources, models, compiled code; presets `asan` and `input` run these
#   fuzz        those of them that feed mutants to the machine; preset `fuzz` runs these
#   nightly     take long and seldom find what the others do not: preset `ci` leaves them out, `nightly` runs all
#   compilers   spend their time in compilers of CUDA, in which the sanitizers see nothing: preset `dev` leaves them out
set(KERNELRL_TEST_LABELS "" CACHE STRING "Build only tests with one of these labels; empty: all")
if(KERNELRL_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

function(kernelrl_add_tests executable)
  cmake_parse_arguments(A "" "TIMEOUT;SHARDS;NAME" "SOURCES;LIBRARIES;DEPENDS;DEFINITIONS;LABELS" ${ARGN})
  set(unwanted ${A_LABELS})
  list(REMOVE_ITEM unwanted ${KERNELRL_TEST_LABELS})
  if(KERNELRL_TEST_LABELS AND "${unwanted}" STREQUAL "${A_LABELS}")
    return()
  endif()
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 120)
  endif()
  set(cost COST ${A_TIMEOUT})  # what may take long starts first
  if(KERNELRL_SANITIZE)
    math(EXPR A_TIMEOUT "10 * ${A_TIMEOUT}")
  endif()
  if(NOT TARGET ${executable})
    kernelrl_add_test_executable(${executable})
  endif()
  list(TRANSFORM A_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  target_sources(${executable} PRIVATE ${A_SOURCES})
  target_link_libraries(${executable} PRIVATE ${A_LIBRARIES})
  target_compile_definitions(${executable} PRIVATE ${A_DEFINITIONS})
  if(A_DEPENDS)
    add_dependencies(${executable} ${A_DEPENDS})
  endif()
  foreach(label ${A_LABELS})
    if(NOT TARGET ${label}_tests)
      add_custom_target(${label}_tests)
    endif()
    add_dependencies(${label}_tests ${executable})
  endforeach()
  if(A_LABELS)  # gtest_discover_tests takes one label; `ctest -L` looks for a part of it
    list(JOIN A_LABELS "-" label)
    set(labels LABELS ${label})
  endif()
  kernelrl_filter_of_tests(${executable} filter ${A_SOURCES})
  if(A_SHARDS)
    math(EXPR last "${A_SHARDS} - 1")
    foreach(shard RANGE ${last})
      add_test(NAME ${A_NAME}.${shard} COMMAND ${executable} --gtest_brief=1 --gtest_filter=${filter})
      set_tests_properties(${A_NAME}.${shard} PROPERTIES TIMEOUT ${A_TIMEOUT} ${cost} ${labels}
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${A_SHARDS};GTEST_SHARD_INDEX=${shard}")
    endforeach()
    return()
  endif()
  gtest_discover_tests(${executable} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_FILTER ${filter}
    PROPERTIES TIMEOUT ${A_TIMEOUT} ${cost} ${labels})
endfunction()

function(kernelrl_add_test_executable name)
  add_executable(${name})
  target_link_libraries(${name} PRIVATE kernelrl::warnings GTest::gmock GTest::gtest GTest::gtest_main)
  # Tests are compiled once and run once, so optimizing them takes longer than they save; what they test is optimized.
  target_compile_options(${name} PRIVATE ${KERNELRL_TEST_OPTIONS})
  target_compile_definitions(${name} PRIVATE
    KERNELRL_SOURCE_DIR="${CMAKE_SOURCE_DIR}" KERNELRL_BINARY_DIR="${CMAKE_BINARY_DIR}"
    KERNELRL_PYTHON_DEPS="${KERNELRL_PYTHON_DEPS}" KERNELRL_DEPS="${CMAKE_SOURCE_DIR}/.deps")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY \"${CMAKE_SOURCE_DIR}\" CALL kernelrl_check_groups ${name})")
endfunction()

# The --gtest_filter of the tests in these files.
function(kernelrl_filter_of_tests executable result)
  set(filter "")
  foreach(source ${ARGN})
    set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(STRINGS ${source} lines REGEX "^TEST(_F|_P)?\\(")
    foreach(line ${lines})
      string(REGEX REPLACE "^TEST[_FP]*\\( *([A-Za-z0-9_]+).*" "\\1" suite "${line}")
      list(APPEND filter "${suite}.*" "*/${suite}.*")
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES filter)
  get_target_property(others ${executable} KERNELRL_TEST_FILTER)
  foreach(pattern ${filter})
    if(pattern IN_LIST others)
      message(FATAL_ERROR "${executable} has tests '${pattern}' in two groups")
    endif()
  endforeach()
  set_property(TARGET ${executable} APPEND PROPERTY KERNELRL_TEST_FILTER ${filter})
  list(JOIN filter ":" filter)
  set(${result} "${filter}" PARENT_SCOPE)
endfunction()

# A test that fails if a test of the executable is in no group, and hence unknown to CTest.
function(kernelrl_check_groups executable)
  get_target_property(filter ${executable} KERNELRL_TEST_FILTER)
  list(JOIN filter ":" filter)
  add_test(NAME ${executable}.every_test_is_in_a_group COMMAND ${executable} --gtest_list_tests --gtest_filter=-${filter})
  set_tests_properties(${executable}.every_test_is_in_a_group PROPERTIES FAIL_REGULAR_EXPRESSION "[A-Za-z0-9_]\\.[\r\n]")
endfunction()
