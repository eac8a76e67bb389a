# kernelrl_add_plugin(NAME SOURCES a.cpp … [STATIC_RUNTIME]): builds NAME.krl.so.
#
# Part of the plugin boundary: the version script and the flags see to it that a plugin exports its entry point and
# nothing else, that a missing symbol is found when linking, and that no plugin meets another one's symbols.
# STATIC_RUNTIME carries the C++ runtime inside the plugin, for hosts with an older one.
function(kernelrl_add_plugin name)
  cmake_parse_arguments(A "STATIC_RUNTIME" "" "SOURCES" ${ARGN})
  if(NOT A_SOURCES)
    message(FATAL_ERROR "kernelrl_add_plugin(${name}): SOURCES are missing")
  endif()
  add_library(${name} MODULE ${A_SOURCES})
  target_link_libraries(${name} PRIVATE kernelrl::sdk)
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".krl.so"
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_options(${name} PRIVATE "LINKER:--version-script=${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin.map"
    "LINKER:--exclude-libs,ALL")
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize" AND NOT KERNELRL_SANITIZE)  # sanitizers leave symbols to the program
    target_link_options(${name} PRIVATE "LINKER:-z,defs")
  endif()
  if(A_STATIC_RUNTIME)
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()
