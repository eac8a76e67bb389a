# Measures the cost of the HTTP client; see the source.
if(TARGET kernelrl_scripted_server)
  add_executable(http_bench ${CMAKE_CURRENT_LIST_DIR}/http_bench.cpp)
  target_link_libraries(http_bench PRIVATE kernelrl_scripted_server kernelrl::warnings)
  set_target_properties(http_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endif()
