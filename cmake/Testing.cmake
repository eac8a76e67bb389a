# kernelrl_add_test(NAME SOURCES … LIBRARIES … LABELS …): one GoogleTest executable, each of its tests known to CTest; with
# SHARDS N for many small tests, CTest knows N parts of it instead, so that a process is started N times only.
# The target LABEL_tests builds all that have a label; `ctest -L LABEL` runs them. Labels that presets know:
#   core        what the core needs alone; preset `asan` runs these
#   threads     those of the core in which threads meet; preset `tsan` runs these
#   input       what strangers have written goes through it: sources, models, compiled code; preset `asan` runs these too
#   compilers   spend their time in compilers of CUDA, in which the sanitizers see nothing: preset `dev` leaves them out
if(KERNELRL_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

function(kernelrl_add_test name)
  cmake_parse_arguments(A "" "TIMEOUT;SHARDS" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 120)
  endif()
  if(KERNELRL_SANITIZE)
    math(EXPR A_TIMEOUT "10 * ${A_TIMEOUT}")
  endif()
  add_executable(${name} ${A_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${A_LIBRARIES} kernelrl::warnings GTest::gtest GTest::gtest_main)
  # Tests are compiled once and run once, so optimizing them takes longer than they save; what they test is optimized.
  target_compile_options(${name} PRIVATE ${KERNELRL_TEST_OPTIONS})
  target_compile_definitions(${name} PRIVATE
    KERNELRL_SOURCE_DIR="${CMAKE_SOURCE_DIR}" KERNELRL_BINARY_DIR="${CMAKE_BINARY_DIR}"
    KERNELRL_PYTHON_DEPS="${KERNELRL_PYTHON_DEPS}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  foreach(label ${A_LABELS})
    if(NOT TARGET ${label}_tests)
      add_custom_target(${label}_tests)
    endif()
    add_dependencies(${label}_tests ${name})
  endforeach()
  if(A_LABELS)  # gtest_discover_tests takes one label; `ctest -L` looks for a part of it
    list(JOIN A_LABELS "-" label)
    set(labels LABELS ${label})
  endif()
  if(A_SHARDS)
    math(EXPR last "${A_SHARDS} - 1")
    foreach(shard RANGE ${last})
      add_test(NAME ${name}.${shard} COMMAND ${name} --gtest_brief=1)
      set_tests_properties(${name}.${shard} PROPERTIES TIMEOUT ${A_TIMEOUT} ${labels}
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${A_SHARDS};GTEST_SHARD_INDEX=${shard}")
    endforeach()
    return()
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${A_TIMEOUT} ${labels})
endfunction()
