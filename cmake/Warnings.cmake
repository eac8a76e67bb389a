add_library(kernelrl_warnings INTERFACE)
add_library(kernelrl::warnings ALIAS kernelrl_warnings)
target_compile_options(kernelrl_warnings INTERFACE -Wall -Wextra -Wpedantic -Werror)
