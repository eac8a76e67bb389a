add_executable(tokenizer_bench ${CMAKE_SOURCE_DIR}/bench/tokenizer_bench.cpp)
target_compile_definitions(tokenizer_bench PRIVATE KERNELRL_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_link_libraries(tokenizer_bench PRIVATE kernelrl_tokenizer kernelrl::warnings)
set_target_properties(tokenizer_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
