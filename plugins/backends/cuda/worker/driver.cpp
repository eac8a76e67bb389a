#include "plugins/backends/cuda/worker/driver.hpp"

#include <dlfcn.h>

#include <cstring>

namespace krl::gpu {
namespace {

#define KRL_TEXT_OF(text) #text
#define KRL_TEXT(macro) KRL_TEXT_OF(macro)

template <class Function>
void find(void* library, const char* name, Function& function) {
  void* symbol = ::dlsym(library, name);
  if (symbol == nullptr) throw std::runtime_error(std::string("this NVIDIA driver lacks ") + name);
  std::memcpy(&function, &symbol, sizeof symbol);
}

Driver load() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    throw std::runtime_error("no NVIDIA driver (libcuda.so.1) on this machine");
  }
  Driver driver;
#define KRL_FIND(name) find(library, KRL_TEXT(name), driver.name);
  KRL_DRIVER_FUNCTIONS(KRL_FIND)
#undef KRL_FIND
  if (const CUresult result = driver.cuInit(0); result != CUDA_SUCCESS) {
    const char* text = nullptr;
    driver.cuGetErrorString(result, &text);
    throw std::runtime_error(std::string("the NVIDIA driver does not start: ") +
                             (text == nullptr ? "unknown error" : text));
  }
  return driver;
}

std::string name_of(CUresult code) {
  const char* name = nullptr;
  driver().cuGetErrorName(code, &name);
  return name == nullptr ? "CUDA error " + std::to_string(code) : name;
}

}  // namespace

CudaError::CudaError(CUresult failed, const std::string& call)
    : std::runtime_error(call + ": " + name_of(failed)), code(failed), name(name_of(failed)) {}

const Driver& driver() {
  static const Driver loaded = load();
  return loaded;
}

void require(CUresult result, const char* call) {
  if (result != CUDA_SUCCESS) throw CudaError(result, call);
}

void free_memory(CUdeviceptr memory) { driver().cuMemFree(memory); }
void free_host_memory(void* memory) { driver().cuMemFreeHost(memory); }
void free_module(CUmodule module) { driver().cuModuleUnload(module); }
void free_event(CUevent event) { driver().cuEventDestroy(event); }
void free_import(CUdeviceptr memory) { driver().cuIpcCloseMemHandle(memory); }

int attribute(CUdevice_attribute which, CUdevice device) {
  int value = 0;
  KRL_CUDA(cuDeviceGetAttribute, &value, which, device);
  return value;
}

DeviceMemory allocate(std::uint64_t bytes) {
  CUdeviceptr memory = 0;
  KRL_CUDA(cuMemAlloc, &memory, bytes);
  return DeviceMemory(memory);
}

HostMemory allocate_host(std::uint64_t bytes) {
  void* memory = nullptr;
  KRL_CUDA(cuMemHostAlloc, &memory, bytes, CU_MEMHOSTALLOC_DEVICEMAP);
  return HostMemory(memory);
}

}  // namespace krl::gpu
