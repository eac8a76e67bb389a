# Debian 12 packages, and libtorch from the wheel that scripts/setup.sh unpacks into .deps/.
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS context coroutine program_options filesystem)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tl-expected REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_library(KERNELRL_EDIT_LIBRARY edit REQUIRED DOC "libedit")

add_library(kernelrl_tomlplusplus INTERFACE)
add_library(kernelrl::tomlplusplus ALIAS kernelrl_tomlplusplus)
find_path(TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)
target_include_directories(kernelrl_tomlplusplus SYSTEM INTERFACE ${TOMLPLUSPLUS_INCLUDE})

# The tokenizers of real models: their split patterns, and normal form C.
find_package(ICU REQUIRED COMPONENTS uc)
add_library(kernelrl_pcre2 INTERFACE)
add_library(kernelrl::pcre2 ALIAS kernelrl_pcre2)
find_path(PCRE2_INCLUDE pcre2.h REQUIRED)
find_library(PCRE2_LIBRARY pcre2-8 REQUIRED)
target_include_directories(kernelrl_pcre2 SYSTEM INTERFACE ${PCRE2_INCLUDE})
target_link_libraries(kernelrl_pcre2 INTERFACE ${PCRE2_LIBRARY})

if(KERNELRL_LIBTORCH)
  include(Torch)
  # The next build notices wheels that scripts/setup.sh installs later: the policy's GPU part is a target only with NVRTC.
  if(EXISTS ${KERNELRL_PYTHON_DEPS}/installed-wheels)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${KERNELRL_PYTHON_DEPS}/installed-wheels)
  endif()
endif()
include(Arrow)
