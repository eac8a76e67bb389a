target_sources(kernelrl_core PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/best.cpp
  ${CMAKE_CURRENT_LIST_DIR}/checkpoints.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ledger.cpp
  ${CMAKE_CURRENT_LIST_DIR}/metrics.cpp
  ${CMAKE_CURRENT_LIST_DIR}/plan_changes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/run_directory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/run_files.cpp
  ${CMAKE_CURRENT_LIST_DIR}/run_record.cpp)
