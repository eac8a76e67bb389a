# Evaluations per second of the cpu backend; see the source.
if(TARGET kernelrl_cpu_fixture)
  add_executable(evaluator_bench ${CMAKE_CURRENT_LIST_DIR}/evaluator_bench.cpp)
  target_compile_definitions(evaluator_bench PRIVATE KERNELRL_BINARY_DIR="${CMAKE_BINARY_DIR}")
  target_link_libraries(evaluator_bench PRIVATE kernelrl_cpu_fixture kernelrl::warnings)
  set_target_properties(evaluator_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endif()
