# The places of all files, in the build tree as under an installation prefix, so that programs, plugins and workers find
# one another by the same relative paths:
#   bin/kernelrl   lib/kernelrl/plugins/*.krl.so   lib/kernelrl/engines/*.so   libexec/kernelrl/*   share/kernelrl/
#   lib/kernelrl/python/   the wheels: torch and the installed parts of CUDA (Torch.cmake)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(KERNELRL_PLUGIN_DIR lib/kernelrl/plugins)
set(KERNELRL_ENGINE_DIR lib/kernelrl/engines)
set(KERNELRL_WORKER_DIR libexec/kernelrl)
set(KERNELRL_SHARE_DIR share/kernelrl)
set(KERNELRL_WHEEL_DIR lib/kernelrl/python)

# kernelrl_add_worker(NAME SOURCES … LIBRARIES …): an executable that a plugin starts in a process of its own.
function(kernelrl_add_worker name)
  cmake_parse_arguments(A "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  set_target_properties(${name} PROPERTIES KERNELRL_UNSANITIZED ON
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${KERNELRL_WORKER_DIR})
  target_link_libraries(${name} PRIVATE kernelrl::warnings)
  foreach(library ${A_LIBRARIES})
    kernelrl_unsanitized_library(${library} library)  # see Sanitizers.cmake
    target_link_libraries(${name} PRIVATE ${library})
  endforeach()
  if(kernelrl_reference IN_LIST A_LIBRARIES)  # with torch
    set_target_properties(${name} PROPERTIES INSTALL_RPATH $ORIGIN/../../${KERNELRL_WHEEL_DIR}/torch/lib)
  endif()
  install(TARGETS ${name} DESTINATION ${KERNELRL_WORKER_DIR})
endfunction()

# A built-in plugin: built exactly as a stranger's, and put where the core looks for it.
function(kernelrl_add_builtin_plugin name)
  kernelrl_add_plugin(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${KERNELRL_PLUGIN_DIR})
  target_link_libraries(${name} PRIVATE kernelrl::warnings)
  install(TARGETS ${name} DESTINATION ${KERNELRL_PLUGIN_DIR})
endfunction()
