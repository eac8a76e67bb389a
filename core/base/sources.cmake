target_sources(kernelrl_core PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/result.cpp
  ${CMAKE_CURRENT_LIST_DIR}/spelling.cpp)
