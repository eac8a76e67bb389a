target_sources(kernelrl_core PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/answer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/task.cpp)
