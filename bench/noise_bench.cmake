# Runs where scripts/setup.sh --gpu has been.
if(TARGET kernelrl_policy_cuda)
  add_executable(noise_bench ${CMAKE_CURRENT_LIST_DIR}/noise_bench.cpp)
  target_link_libraries(noise_bench PRIVATE kernelrl_policy_cuda nlohmann_json::nlohmann_json kernelrl::warnings)
  set_target_properties(noise_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endif()
