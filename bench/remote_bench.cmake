# Measures the cost of sampling from a server; bench/remote_bench.py drives it.
if(TARGET kernelrl_scripted_server AND TARGET openai)
  add_executable(remote_bench ${CMAKE_CURRENT_LIST_DIR}/remote_bench.cpp)
  target_link_libraries(remote_bench
    PRIVATE kernelrl_openai_parts kernelrl_scripted_server kernelrl::warnings)
  target_compile_definitions(remote_bench PRIVATE KERNELRL_BINARY_DIR="${CMAKE_BINARY_DIR}")
  set_target_properties(remote_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  add_dependencies(remote_bench openai)
endif()
