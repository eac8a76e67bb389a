// Records what a GPU computes for the conformance programs, or compares it with a record.
//
// On a machine with an NVIDIA GPU of compute capability 9.0 or newer, from the repository's root:
//   build/ci/tests/conformance_recorder tests/conformance/forms.txt tests/conformance/h200.record
// The driver compiles the PTX: about a minute. A third argument names a file for all the results in
// full (35 MB), to look into differences with: program after program, in the order of
// all_programs().
#include <fstream>
#include <iostream>
#include <iterator>

#include "plugins/backends/cuda/worker/driver.hpp"
#include "tests/conformance/record.hpp"

namespace {

using namespace krl;

constexpr std::size_t kProgramsOfModule = 64;

std::string contents_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void start_device() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  KRL_CUDA(cuDeviceGet, &device, 0);
  KRL_CUDA(cuDevicePrimaryCtxRetain, &context, device);
  KRL_CUDA(cuCtxSetCurrent, context);
}

class Recorder {
 public:
  Recorder() {
    const std::vector<std::uint64_t> words = conformance::inputs();
    inputs_ = gpu::allocate(words.size() * sizeof(words[0]));
    KRL_CUDA(cuMemcpyHtoD, inputs_.get(), words.data(), words.size() * sizeof(words[0]));
  }

  std::vector<std::uint64_t> run(CUmodule module, const conformance::Program& program) {
    CUfunction function = nullptr;
    KRL_CUDA(cuModuleGetFunction, &function, module, program.name.c_str());
    std::vector<std::uint64_t> results(program.result_words());
    const std::size_t bytes = results.size() * sizeof(results[0]);
    const gpu::DeviceMemory memory = gpu::allocate(bytes);
    KRL_CUDA(cuMemcpyHtoD, memory.get(), results.data(), bytes);
    CUdeviceptr in = inputs_.get(), out = memory.get();
    void* arguments[] = {&in, &out};
    KRL_CUDA(cuLaunchKernel, function, program.blocks, 1, 1, program.threads, 1, 1, 0, nullptr,
             arguments, nullptr);
    KRL_CUDA(cuCtxSynchronize);
    KRL_CUDA(cuMemcpyDtoH, results.data(), memory.get(), bytes);
    return results;
  }

 private:
  gpu::DeviceMemory inputs_;
};

void record(const char* forms_path, const char* record_path, const char* results_path) {
  const auto programs = conformance::all_programs(conformance::read_forms(contents_of(forms_path)));
  start_device();
  Recorder recorder;
  conformance::RecordWriter writer(programs);
  std::ofstream full;
  if (results_path != nullptr) full.open(results_path, std::ios::binary);
  for (std::size_t i = 0; i < programs.size(); i += kProgramsOfModule) {
    const std::size_t end = std::min(i + kProgramsOfModule, programs.size());
    CUmodule loaded = nullptr;
    KRL_CUDA(cuModuleLoadData, &loaded, conformance::module_text(programs, i, end).c_str());
    const gpu::DeviceModule module(loaded);
    for (std::size_t p = i; p < end; ++p) {
      const std::vector<std::uint64_t> results = recorder.run(module.get(), programs[p]);
      writer.add(programs[p], results);
      full.write(reinterpret_cast<const char*>(results.data()),
                 static_cast<std::streamsize>(results.size() * sizeof(results[0])));
    }
  }
  std::ofstream(record_path, std::ios::binary) << writer.bytes();
  std::cout << programs.size() << " programs, " << writer.bytes().size() << " bytes\n";
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::cerr << "usage: conformance_recorder FORMS RECORD [RESULTS]\n";
    return 2;
  }
  try {
    record(arguments[1], arguments[2], count > 3 ? arguments[3] : nullptr);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
