# kernelrl_add_test(NAME SOURCES … LIBRARIES … LABELS …): one GoogleTest executable, each of its tests known to CTest.
# The target LABEL_tests builds all that have a label; `ctest -L LABEL` runs them.
if(KERNELRL_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

function(kernelrl_add_test name)
  cmake_parse_arguments(A "" "TIMEOUT" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 120)
  endif()
  add_executable(${name} ${A_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${A_LIBRARIES} kernelrl::warnings GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    KERNELRL_SOURCE_DIR="${CMAKE_SOURCE_DIR}" KERNELRL_BINARY_DIR="${CMAKE_BINARY_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  foreach(label ${A_LABELS})
    if(NOT TARGET ${label}_tests)
      add_custom_target(${label}_tests)
    endif()
    add_dependencies(${label}_tests ${name})
  endforeach()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${A_LABELS}" TIMEOUT ${A_TIMEOUT})
endfunction()
