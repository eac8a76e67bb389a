# Evaluations per second of the cpu backend, what the GPU backends do on a GPU, and what a tolerance tells apart; see the
# sources.
if(TARGET kernelrl_cpu_fixture)
  foreach(bench evaluator_bench gpu_bench tolerance_bench)
    add_executable(${bench} ${CMAKE_CURRENT_LIST_DIR}/${bench}.cpp ${CMAKE_CURRENT_LIST_DIR}/corpus.cpp)
    target_compile_definitions(${bench} PRIVATE
      KERNELRL_BINARY_DIR="${CMAKE_BINARY_DIR}" KERNELRL_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
      KERNELRL_PYTHON_DEPS="${KERNELRL_PYTHON_DEPS}")
    target_link_libraries(${bench} PRIVATE kernelrl_cpu_fixture kernelrl_nvrtc_parts kernelrl::warnings)
    add_dependencies(${bench} kernelrl-nvrtc templates)
    set_target_properties(${bench} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  endforeach()
  target_sources(gpu_bench PRIVATE ${CMAKE_CURRENT_LIST_DIR}/gpu_counters.cpp ${CMAKE_CURRENT_LIST_DIR}/gpu_kills.cpp
    ${CMAKE_CURRENT_LIST_DIR}/export_kernels.cpp)
  foreach(bench gpu_bench tolerance_bench)
    add_dependencies(${bench} nvrtc kernelrl-gpu-runner kernelrl-gpu-checker kernelrl-gpu-profiler)
  endforeach()
endif()
