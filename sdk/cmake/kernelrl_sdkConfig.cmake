include("${CMAKE_CURRENT_LIST_DIR}/kernelrl_sdkTargets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/kernelrl_add_plugin.cmake")
