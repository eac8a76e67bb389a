# The C++ layer over abi.h, the test host, and the examples of the documentation.
set(KERNELRL_EXAMPLE_DIR ${CMAKE_BINARY_DIR}/tests/plugins/examples)
foreach(name short_source scaled_copies brackets recorded asks_a_server two_answers)
  kernelrl_add_plugin(example_${name} SOURCES ${CMAKE_SOURCE_DIR}/sdk/docs/examples/${name}.cpp)
  target_link_libraries(example_${name} PRIVATE kernelrl::warnings)
  set_target_properties(example_${name} PROPERTIES
    OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY ${KERNELRL_EXAMPLE_DIR})
  list(APPEND examples example_${name})
endforeach()

kernelrl_add_tests(sdk_test
  SOURCES component_test.cpp documentation_test.cpp evaluation_test.cpp examples_test.cpp links_test.cpp views_test.cpp
  LIBRARIES kernelrl::sdk nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS} DEPENDS ${examples})

# Holds a plugin, as component_test.cpp does, and an executable has one entry point of a plugin: hence in another one.
kernelrl_add_tests(policy_test SOURCES testing_test.cpp LIBRARIES kernelrl::sdk ${CMAKE_DL_LIBS})
