# Reading tables; see the source.
if(TARGET kernelrl_records)
  add_executable(records_bench ${CMAKE_CURRENT_LIST_DIR}/records_bench.cpp)
  target_link_libraries(records_bench PRIVATE kernelrl_records kernelrl::parquet kernelrl::warnings)
  set_target_properties(records_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endif()
