# Generation on a GPU; see the source. Runs where scripts/setup.sh --gpu has been.
if(TARGET kernelrl_policy_cuda)
  add_executable(generation_bench ${CMAKE_CURRENT_LIST_DIR}/generation_bench.cpp)
  target_link_libraries(generation_bench PRIVATE kernelrl_policy_cuda kernelrl::warnings)
  set_target_properties(generation_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endif()
