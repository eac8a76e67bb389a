# libtorch on the CPU: `kernelrl::torch_cpu`. Torch's own package file wants nvcc even where no GPU is used, so the wheel is
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
target_link_directories(kernelrl_torch_cpu INTERFACE ${_torch}/lib)
target_link_libraries(kernelrl_torch_cpu INTERFACE torch_cpu c10)
target_link_options(kernelrl_torch_cpu INTERFACE
  -Wl,--allow-shlib-undefined -Wl,-rpath,${_torch}/lib -Wl,-rpath,${KERNELRL_PYTHON_DEPS}/nvidia/cu13/lib)

# The same with CUDA: `kernelrl::torch_cuda`. Headers and libraries lie in the wheel whether there is a GPU or not; of CUDA's
# own headers those of NVRTC are an extra (scripts/setup.sh --cuda). What links it runs only where all that libtorch_cuda
# names is installed.
if(EXISTS ${KERNELRL_PYTHON_DEPS}/nvidia/cu13/include/nvrtc.h)
  add_library(kernelrl_cuda_headers INTERFACE)
  add_library(kernelrl::cuda_headers ALIAS kernelrl_cuda_headers)
  target_include_directories(kernelrl_cuda_headers SYSTEM INTERFACE ${KERNELRL_PYTHON_DEPS}/nvidia/cu13/include)

  add_library(kernelrl_torch_cuda INTERFACE)
  add_library(kernelrl::torch_cuda ALIAS kernelrl_torch_cuda)
  target_link_directories(kernelrl_torch_cuda INTERFACE ${KERNELRL_PYTHON_DEPS}/nvidia/cu13/lib)
  target_link_libraries(kernelrl_torch_cuda
    INTERFACE kernelrl_torch_cpu kernelrl_cuda_headers torch_cuda c10_cuda ${KERNELRL_PYTHON_DEPS}/nvidia/cu13/lib/libcudart.so.13)
  target_link_options(kernelrl_torch_cuda INTERFACE -Wl,--no-as-needed)

  # libtorch_cuda carries NCCL's calls; several GPUs need its header as well (scripts/setup.sh --gpu, or a CUDA toolkit's).
  find_path(KERNELRL_NCCL nccl.h HINTS ${KERNELRL_PYTHON_DEPS}/nvidia/nccl/include DOC "Folder with nccl.h")
endif()
