# libtorch on the CPU: `kernelrl::torch_cpu`. Torch's own package file requires nvcc even where no GPU is used, so the wheel is
# described here. Only libtorch_cpu and libc10 are linked; CUDA stays out of the process until a plan asks for it.
set(KERNELRL_PYTHON_DEPS ${CMAKE_SOURCE_DIR}/.deps/python CACHE PATH "Folder with the unpacked torch wheel")
set(_torch ${KERNELRL_PYTHON_DEPS}/torch)
if(NOT EXISTS ${_torch}/lib/libtorch_cpu.so)
  message(FATAL_ERROR "no libtorch in ${KERNELRL_PYTHON_DEPS}: run scripts/setup.sh, "
    "or set KERNELRL_PYTHON_DEPS, or build without it (KERNELRL_LIBTORCH=OFF)")
endif()

add_library(kernelrl_torch_cpu INTERFACE)
add_library(kernelrl::torch_cpu ALIAS kernelrl_torch_cpu)
target_include_directories(kernelrl_torch_cpu SYSTEM INTERFACE
  ${_torch}/include ${_torch}/include/torch/csrc/api/include)
target_link_libraries(kernelrl_torch_cpu INTERFACE ${_torch}/lib/libtorch_cpu.so ${_torch}/lib/libc10.so)
target_link_options(kernelrl_torch_cpu INTERFACE -Wl,--allow-shlib-undefined)

# The same with CUDA: `kernelrl::torch_cuda`. Headers and libraries lie in the wheel whether there is a GPU or not; of CUDA's
# own headers those of NVRTC come by scripts/setup.sh. What links it runs only where all that libtorch_cuda names is installed.
if(EXISTS ${KERNELRL_PYTHON_DEPS}/nvidia/cu13/include/nvrtc.h)
  add_library(kernelrl_cuda_headers INTERFACE)
  add_library(kernelrl::cuda_headers ALIAS kernelrl_cuda_headers)
  target_include_directories(kernelrl_cuda_headers SYSTEM INTERFACE ${KERNELRL_PYTHON_DEPS}/nvidia/cu13/include)

  add_library(kernelrl_torch_cuda INTERFACE)
  add_library(kernelrl::torch_cuda ALIAS kernelrl_torch_cuda)
  target_link_libraries(kernelrl_torch_cuda INTERFACE kernelrl_torch_cpu kernelrl_cuda_headers
    ${_torch}/lib/libtorch_cuda.so ${_torch}/lib/libc10_cuda.so ${KERNELRL_PYTHON_DEPS}/nvidia/cu13/lib/libcudart.so.13)
  target_link_options(kernelrl_torch_cuda INTERFACE -Wl,--no-as-needed)

  # libtorch_cuda carries NCCL's calls; several GPUs need its header as well (scripts/setup.sh --gpu, or a CUDA toolkit's).
  find_path(KERNELRL_NCCL nccl.h HINTS ${KERNELRL_PYTHON_DEPS}/nvidia/nccl/include DOC "Folder with nccl.h")
endif()

# In the build tree the wheels are a link to where they were unpacked. An installation has a copy of what running needs, so
# that it needs nothing of this clone, and what --cuda and --gpu have brought.
option(KERNELRL_INSTALL_WHEELS "Install the libraries and compilers of the wheels along with kernelrl" ON)
set(CMAKE_BUILD_RPATH ${_torch}/lib ${KERNELRL_PYTHON_DEPS}/nvidia/cu13/lib)
get_filename_component(_wheels ${CMAKE_BINARY_DIR}/${KERNELRL_WHEEL_DIR} DIRECTORY)
file(MAKE_DIRECTORY ${_wheels})
file(REMOVE ${CMAKE_BINARY_DIR}/${KERNELRL_WHEEL_DIR})
file(CREATE_LINK ${KERNELRL_PYTHON_DEPS} ${CMAKE_BINARY_DIR}/${KERNELRL_WHEEL_DIR} SYMBOLIC)
if(KERNELRL_INSTALL_WHEELS)
  # A machine without a GPU needs libtorch's CPU part with the CUDA libraries that it names, and NVRTC with its headers and
  # nvJitLink; the component `gpu` has the rest.
  set(_cpu_only "/(libtorch_cpu|libc10|libgomp)\\.so[^/]*$")
  file(GLOB _libraries ${_torch}/lib/*.so*)
  list(FILTER _libraries EXCLUDE REGEX "/lib(torch_python|shm)")
  set(_cpu_libraries ${_libraries})
  list(FILTER _cpu_libraries INCLUDE REGEX ${_cpu_only})
  list(FILTER _libraries EXCLUDE REGEX ${_cpu_only})
  install(PROGRAMS ${_cpu_libraries} DESTINATION ${KERNELRL_WHEEL_DIR}/torch/lib)
  install(PROGRAMS ${_libraries} DESTINATION ${KERNELRL_WHEEL_DIR}/torch/lib COMPONENT gpu)
  set(_nvidia ${KERNELRL_PYTHON_DEPS}/nvidia)
  install(DIRECTORY ${_nvidia}/cu13/lib DESTINATION ${KERNELRL_WHEEL_DIR}/nvidia/cu13 USE_SOURCE_PERMISSIONS
    FILES_MATCHING PATTERN "libnvrtc*.so*" PATTERN "libnvJitLink.so*" PATTERN "libcupti.so*" PATTERN "libcudart.so*" PATTERN "*.alt.so*" EXCLUDE)
  install(DIRECTORY ${_nvidia}/cu13/include DESTINATION ${KERNELRL_WHEEL_DIR}/nvidia/cu13)
  install(DIRECTORY ${_nvidia} DESTINATION ${KERNELRL_WHEEL_DIR} USE_SOURCE_PERMISSIONS COMPONENT gpu
    PATTERN "*.alt.so*" EXCLUDE PATTERN "libnvrtc*.so*" EXCLUDE PATTERN "libnvJitLink.so*" EXCLUDE PATTERN "libcupti.so*" EXCLUDE
    PATTERN "libcudart.so*" EXCLUDE PATTERN "cu13/include" EXCLUDE)
endif()
