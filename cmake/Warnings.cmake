add_library(kernelrl_warnings INTERFACE)
add_library(kernelrl::warnings ALIAS kernelrl_warnings)
target_compile_options(kernelrl_warnings INTERFACE -Wall -Wextra -Wpedantic -Werror)
# g++ 12 sees overlapping copies in every `"text" + std::string` (its bug 105651) and, with -O3, uninitialised strings where a
# temporary aggregate ends. The presets `asan` and `tsan` compile the core and all that reads strangers' input by clang, which
# warns of real ones.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(kernelrl_warnings INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
