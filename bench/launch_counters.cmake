# Prints the counters that the model of a GPU is fitted to; see the source.
if(TARGET kernelrl_cpu_fixture)
  add_executable(launch_counters
    ${CMAKE_CURRENT_LIST_DIR}/launch_counters.cpp ${CMAKE_CURRENT_LIST_DIR}/corpus.cpp
    ${CMAKE_SOURCE_DIR}/plugins/backends/cpu/plugin/assembled_kernels.cpp
    ${CMAKE_SOURCE_DIR}/plugins/backends/cpu/plugin/machine_runs.cpp
    ${CMAKE_SOURCE_DIR}/plugins/backends/cpu/plugin/result_checks.cpp)
  target_compile_definitions(launch_counters PRIVATE
    KERNELRL_BINARY_DIR="${CMAKE_BINARY_DIR}" KERNELRL_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    KERNELRL_PYTHON_DEPS="${KERNELRL_PYTHON_DEPS}")
  target_link_libraries(launch_counters PRIVATE
    kernelrl_cpu_fixture kernelrl_gpu_model kernelrl_nvrtc_parts OpenSSL::Crypto
    kernelrl::warnings)
  set_target_properties(launch_counters PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  add_dependencies(launch_counters kernelrl-machine-x86-64 kernelrl-nvrtc kernelrl-sandbox templates)
endif()
