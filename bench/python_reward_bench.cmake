# Measures the cost of a reward in Python.
add_executable(python_reward_bench ${CMAKE_CURRENT_LIST_DIR}/python_reward_bench.cpp)
target_link_libraries(python_reward_bench PRIVATE kernelrl::sdk kernelrl::warnings ${CMAKE_DL_LIBS})
target_compile_definitions(python_reward_bench PRIVATE
  KERNELRL_BINARY_DIR="${CMAKE_BINARY_DIR}" KERNELRL_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
set_target_properties(python_reward_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
add_dependencies(python_reward_bench python)
