if(TARGET kernelrl_emulator_core)
  add_executable(emulator_bench ${CMAKE_CURRENT_LIST_DIR}/emulator_bench.cpp)
  target_link_libraries(emulator_bench PRIVATE kernelrl_emulator_core kernelrl::warnings)
  target_compile_definitions(emulator_bench PRIVATE
    KERNELRL_SOURCE_DIR="${CMAKE_SOURCE_DIR}" KERNELRL_BINARY_DIR="${CMAKE_BINARY_DIR}")
  set_target_properties(emulator_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  add_dependencies(emulator_bench kernelrl-emulator)
endif()
