add_library(kernelrl_warnings INTERFACE)
add_library(kernelrl::warnings ALIAS kernelrl_warnings)
target_compile_options(kernelrl_warnings INTERFACE -Wall -Wextra -Wpedantic -Werror)
# g++ 12 sees overlapping copies in every `"text" + std::string` (its bug 105651) and, with -O2, uninitialised strings where a
# temporary aggregate ends; clang, which compiles the tests for AddressSanitizer, still warns of the real ones.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(kernelrl_warnings INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
