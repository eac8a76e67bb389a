target_sources(kernelrl_core PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/call.cpp
  ${CMAKE_CURRENT_LIST_DIR}/component.cpp
  ${CMAKE_CURRENT_LIST_DIR}/host.cpp
  ${CMAKE_CURRENT_LIST_DIR}/instance.cpp
  ${CMAKE_CURRENT_LIST_DIR}/registry.cpp)
