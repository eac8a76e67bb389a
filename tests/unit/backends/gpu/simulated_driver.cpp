// A libcuda.so.1 without a GPU, for the tests of the GPU's processes: memory is the host's, kernels
// are functions of g++'s (simulated_kernel.hpp), one thread after the other, a fault of theirs is a
// sticky error as it is on a GPU, and a module is a shared object. Work on the stream is done as
// late as a GPU may do it: when the host waits for it. So who forgets to wait is found out.
#include <cuda.h>
#include <dlfcn.h>
#include <elf.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/backends/gpu/simulated_kernel.hpp"

SimulatedIndex simulated_thread, simulated_block, simulated_block_size, simulated_grid_size;
unsigned krl_shared[kSimulatedShared];

namespace {

using Kernel = void (*)(void**, std::function<void()>*);
using Clock = std::chrono::steady_clock;

CUresult sticky = CUDA_SUCCESS;
std::vector<std::function<void()>> enqueued;  // on the one stream
sigjmp_buf on_fault;
std::map<CUdeviceptr, std::pair<int, std::size_t>> allocations;  // descriptor and bytes
// Open as long as they are loaded: the loader takes a name that it knows for what it has loaded.
std::map<CUmodule, int> module_files;

void* host(CUdeviceptr pointer) { return reinterpret_cast<void*>(pointer); }

volatile sig_atomic_t in_kernel = 0;

void fault(int signal) {
  if (in_kernel != 0) siglongjmp(on_fault, 1);
  ::signal(signal, SIG_DFL);  // it is the host's own, and comes again
}

void catch_faults() {
  struct sigaction action {};
  action.sa_handler = fault;
  action.sa_flags = SA_NODEFER;
  ::sigaction(SIGSEGV, &action, nullptr);
  ::sigaction(SIGBUS, &action, nullptr);
}

std::size_t size_of_object(const void* image) {
  const auto* header = static_cast<const Elf64_Ehdr*>(image);
  return header->e_shoff + std::size_t{header->e_shnum} * header->e_shentsize;
}

int memory_file(const char* name, std::size_t bytes) {
  const int file = ::memfd_create(name, MFD_CLOEXEC);
  if (file >= 0 && ::ftruncate(file, static_cast<off_t>(bytes)) != 0) return -1;
  return file;
}

CUresult map(int file, std::size_t bytes, CUdeviceptr* pointer) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  *pointer = reinterpret_cast<CUdeviceptr>(memory);
  allocations[*pointer] = {file, bytes};
  return CUDA_SUCCESS;
}

// How much a process may use, the arenas of others that it maps included: KRL_SIMULATED_MEMORY bytes.
std::size_t memory_in_all() {
  const char* limit = std::getenv("KRL_SIMULATED_MEMORY");
  return limit == nullptr ? std::size_t{1} << 30 : std::strtoull(limit, nullptr, 10);
}

std::size_t memory_left() {
  std::size_t used = 0;
  for (const auto& [pointer, file_and_bytes] : allocations) used += file_and_bytes.second;
  return memory_in_all() - std::min(used, memory_in_all());
}

CUresult unmap(CUdeviceptr pointer) {
  const auto found = allocations.find(pointer);
  if (found == allocations.end()) return CUDA_ERROR_INVALID_VALUE;
  ::munmap(host(pointer), found->second.second);
  ::close(found->second.first);
  allocations.erase(found);
  return sticky;
}

struct SimulatedLaunch {
  std::function<void()> call;
  SimulatedIndex grid, block;
};

void run_threads(const SimulatedLaunch& launch) {
  const auto [call, grid, block] = launch;
  simulated_grid_size = grid;
  simulated_block_size = block;
  for (simulated_block.z = 0; simulated_block.z < grid.z; ++simulated_block.z)
    for (simulated_block.y = 0; simulated_block.y < grid.y; ++simulated_block.y)
      for (simulated_block.x = 0; simulated_block.x < grid.x; ++simulated_block.x)
        for (simulated_thread.z = 0; simulated_thread.z < block.z; ++simulated_thread.z)
          for (simulated_thread.y = 0; simulated_thread.y < block.y; ++simulated_thread.y)
            for (simulated_thread.x = 0; simulated_thread.x < block.x; ++simulated_thread.x) call();
}

void run(const SimulatedLaunch& launch) {
  static const bool caught = (catch_faults(), true);
  in_kernel = caught ? 1 : 0;
  if (sigsetjmp(on_fault, 0) == 0) {
    run_threads(launch);
  } else {
    sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
  }
  in_kernel = 0;
}

CUresult enqueue(std::function<void()> work) {
  if (sticky == CUDA_SUCCESS) enqueued.push_back(std::move(work));
  return sticky;
}

// Does what is enqueued, up to the first fault.
CUresult wait() {
  for (const auto& work : std::exchange(enqueued, {})) {
    if (sticky == CUDA_SUCCESS) work();
  }
  return sticky;
}

}  // namespace

struct CUevent_st {
  Clock::time_point time;
};

extern "C" {

CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int* version) { return *version = CUDA_VERSION, CUDA_SUCCESS; }
CUresult cuGetErrorName(CUresult code, const char** name) {
  *name = code == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OTHER";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) { return *text = "simulated", CUDA_SUCCESS; }

CUresult cuDeviceGetCount(int* count) { return *count = 2, CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* device, int index) { return *device = index, CUDA_SUCCESS; }
CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  std::snprintf(name, static_cast<std::size_t>(size), "simulated GPU");
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char* bus, int, CUdevice) { return *bus = 0, CUDA_SUCCESS; }
CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice) {
  return *bytes = std::size_t{1} << 30, CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice) {
  *value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
  if (which == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE) *value = 1 << 16;
  if (which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) *value = 1;
  if (which == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) *value = 512;
  if (which == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) *value = 4 * kSimulatedShared;
  if (which == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) *value = 1'000'000;
  if (which == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) *value = 4096;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  return *context = nullptr, CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxSynchronize() { return wait(); }
CUresult cuCtxSetLimit(CUlimit, std::size_t) { return CUDA_SUCCESS; }
CUresult cuCtxResetPersistingL2Cache() { return sticky; }

CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  return *free = memory_left(), *total = memory_in_all(), CUDA_SUCCESS;
}
CUresult cuMemAlloc(CUdeviceptr* pointer, std::size_t bytes) {
  if (sticky != CUDA_SUCCESS) return sticky;
  if (bytes > memory_left()) return CUDA_ERROR_OUT_OF_MEMORY;
  ::usleep(1000);  // a GPU's is not at once there either
  const int file = memory_file("krl-simulated", bytes);
  return file < 0 ? CUDA_ERROR_OUT_OF_MEMORY : map(file, bytes, pointer);
}
CUresult cuMemFree(CUdeviceptr pointer) { return wait(), unmap(pointer); }
CUresult cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return *memory = std::calloc(1, bytes), sticky;
}
CUresult cuMemFreeHost(void* memory) { return wait(), std::free(memory), sticky; }
CUresult cuMemHostGetDevicePointer(CUdeviceptr* pointer, void* memory, unsigned) {
  return *pointer = reinterpret_cast<CUdeviceptr>(memory), sticky;
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  return wait(), std::memcpy(host(to), from, bytes), sticky;
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  return wait(), std::memcpy(to, host(from), bytes), sticky;
}
// Pageable memory is copied at once, as drivers do, for page-locked memory makes no difference here.
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream) {
  const char* const first = static_cast<const char*>(from);
  return enqueue([to, staged = std::vector<char>(first, first + bytes)] {
    std::memcpy(host(to), staged.data(), staged.size());
  });
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream) {
  return enqueue([=] { std::memcpy(to, host(from), bytes); });
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream) {
  return enqueue([=] { std::memcpy(host(to), host(from), bytes); });
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream) {
  return enqueue([=] { std::memset(host(to), value, bytes); });
}

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr pointer) {
  const auto [file, bytes] = allocations.at(pointer);
  std::snprintf(handle->reserved, sizeof handle->reserved, "%zu /proc/%d/fd/%d", bytes, ::getpid(),
                file);
  return CUDA_SUCCESS;
}
CUresult cuIpcOpenMemHandle(CUdeviceptr* pointer, CUipcMemHandle handle, unsigned) {
  std::size_t bytes = 0;
  char path[64];
  if (std::sscanf(handle.reserved, "%zu %63s", &bytes, path) != 2) return CUDA_ERROR_INVALID_VALUE;
  std::FILE* file = std::fopen(path, "r+");
  if (file == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = map(::dup(::fileno(file)), bytes, pointer);
  std::fclose(file);
  return result;
}
CUresult cuIpcCloseMemHandle(CUdeviceptr pointer) { return wait(), unmap(pointer); }

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  if (sticky != CUDA_SUCCESS) return sticky;
  if (std::memcmp(image, ELFMAG, SELFMAG) != 0) return CUDA_ERROR_INVALID_IMAGE;
  const std::size_t bytes = size_of_object(image);
  const int file = memory_file("krl-module", bytes);
  if (::write(file, image, bytes) != static_cast<ssize_t>(bytes)) return CUDA_ERROR_INVALID_IMAGE;
  const Elf64_Half ours = EM_X86_64;  // a module may say that it is for a GPU
  if (::pwrite(file, &ours, sizeof ours, offsetof(Elf64_Ehdr, e_machine)) != sizeof ours) {
    return CUDA_ERROR_INVALID_IMAGE;
  }
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  void* object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  module_files[static_cast<CUmodule>(object)] = file;
  if (object == nullptr) std::fprintf(stderr, "simulated module: %s\n", ::dlerror());
  *module = static_cast<CUmodule>(object);
  return object == nullptr ? CUDA_ERROR_INVALID_IMAGE : CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
  wait();
  ::dlclose(module);
  ::close(module_files.at(module));
  module_files.erase(module);
  return sticky;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  void* symbol = ::dlsym(module, (std::string(name) + "_simulated").c_str());
  *function = static_cast<CUfunction>(symbol);
  return symbol == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute, CUfunction) {
  return *value = 1, sticky;  // whatever kernel it is may use shared memory
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return sticky; }

// Kernels find the arguments in the descriptor, as SimulatedTensorMap.
CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, unsigned rank,
                                void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t*, CUtensorMapInterleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                                CUtensorMapFloatOOBfill) {
  if (rank > 2 || strides == nullptr || reinterpret_cast<std::uintptr_t>(address) % 16 != 0)
    return CUDA_ERROR_INVALID_VALUE;
  const SimulatedTensorMap simulated = {address,
                                        sizes[0],
                                        sizes[1],
                                        strides[0],
                                        box[0],
                                        box[1],
                                        static_cast<unsigned>(type),
                                        static_cast<unsigned>(swizzle)};
  static_assert(sizeof simulated <= sizeof *map);
  std::memcpy(map, &simulated, sizeof simulated);
  return sticky;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned, CUstream,
                        void** arguments, void**) {
  if (sticky != CUDA_SUCCESS) return sticky;
  if (block_x * block_y * block_z > 512) return CUDA_ERROR_INVALID_VALUE;
  SimulatedLaunch launch{{}, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}};
  reinterpret_cast<Kernel>(function)(arguments, &launch.call);
  return enqueue([launch = std::move(launch)] { run(launch); });
}

CUresult cuEventCreate(CUevent* event, unsigned) { return *event = new CUevent_st, sticky; }
CUresult cuEventDestroy(CUevent event) { return wait(), delete event, sticky; }
CUresult cuEventRecord(CUevent event, CUstream) {
  return enqueue([event] { event->time = Clock::now(); });
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  if (!enqueued.empty()) return CUDA_ERROR_NOT_READY;
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
  return sticky;
}

}  // extern "C"
