# Compiles abi.h by every C and C++ standard that a plugin may use, and every SDK header by itself.
#   cmake -D SDK=…/sdk/include -D WORK=folder -P headers.cmake
file(MAKE_DIRECTORY ${WORK})
find_program(GCC NAMES gcc)
find_program(GXX NAMES g++)
find_program(CLANG NAMES clang clang-14 clang-15 clang-16)
find_program(CLANGXX NAMES clang++ clang++-14 clang++-15 clang++-16)
set(warnings -Wall -Wextra -Wpedantic -Werror)

function(compile what)
  execute_process(COMMAND ${ARGN} ${warnings} -fsyntax-only -I${SDK} RESULT_VARIABLE result ERROR_VARIABLE errors)
  if(NOT result EQUAL 0)
    message(SEND_ERROR "${what}:\n${errors}")
  endif()
endfunction()

function(compile_abi compiler language)
  if(NOT compiler)
    return()
  endif()
  file(WRITE ${WORK}/abi.${language} "#include <kernelrl/abi.h>\n")
  foreach(standard ${ARGN})
    compile("abi.h as ${standard} by ${compiler}" ${compiler} -std=${standard} -Wpadded ${WORK}/abi.${language})
    math(EXPR compiled "${compiled} + 1")
  endforeach()
  set(compiled ${compiled} PARENT_SCOPE)
endfunction()

set(compiled 0)
compile_abi("${GCC}" c c11 c17)
compile_abi("${GXX}" cpp c++17 c++20)
compile_abi("${CLANG}" c c11 c17)
compile_abi("${CLANGXX}" cpp c++17 c++20)

# Each header alone, twice in an empty file; those of detail/ are parts of one that is public.
file(GLOB headers RELATIVE ${SDK} ${SDK}/kernelrl/*.hpp ${SDK}/kernelrl/testing/*.hpp)
if(NOT headers)
  message(FATAL_ERROR "no headers below ${SDK}")
endif()
foreach(header ${headers})
  string(MAKE_C_IDENTIFIER ${header} name)
  file(WRITE ${WORK}/${name}.cpp "#include <${header}>\n#include <${header}>\n")
  compile("${header} alone" ${GXX} -std=c++17 ${WORK}/${name}.cpp)
  math(EXPR compiled "${compiled} + 1")
endforeach()

# All of them after macros that other people's headers are known to define. The standard library and the JSON library
# come first: they do not bear them.
set(first "")
foreach(header algorithm array cerrno charconv cmath cstdint cstdio cstdlib cstring deque dlfcn.h filesystem fstream functional initializer_list
    limits map memory mutex new optional set sstream stdexcept string string_view tuple type_traits unordered_map utility
    variant vector nlohmann/json.hpp)
  string(APPEND first "#include <${header}>\n")
endforeach()
set(all "")
foreach(header ${headers})
  string(APPEND all "#include <${header}>\n")
endforeach()
file(WRITE ${WORK}/hostile.cpp "${first}
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define Success 0
#define None 0
#define DEBUG 1
#define ERROR 1
${all}")
foreach(compiler ${GXX} ${CLANGXX})
  compile("all headers after hostile macros, by ${compiler}" ${compiler} -std=c++20 ${WORK}/hostile.cpp)
  math(EXPR compiled "${compiled} + 1")
endforeach()
message(STATUS "${compiled} compilations")
