# Measures how the rounding of sums depends on their order; see summation_bench.cpp.
if(TARGET kernelrl_evaluator)
  add_executable(summation_bench ${CMAKE_CURRENT_LIST_DIR}/summation_bench.cpp)
  target_link_libraries(summation_bench PRIVATE kernelrl_evaluator kernelrl::warnings)
  set_target_properties(summation_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endif()
