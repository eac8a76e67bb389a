#include "plugins/backends/cuda/gpu/gpu_search.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <kernelrl/values.hpp>

#include "plugins/backends/evaluator/process/message_stream.hpp"
#include "plugins/backends/evaluator/process/subprocess.hpp"

namespace krl::cuda {
using namespace evaluator;
namespace {

constexpr std::chrono::seconds kSearchLimit{60};

[[noreturn]] void no_gpu(const std::string& why) {
  throw Failure(KRL_FAILED_PRECONDITION,
                why +
                    ". Without a GPU, execute = \"off\" compiles only, and the backend 'cpu' "
                    "emulates one");
}

std::vector<gpu::GpuDescription> all_gpus(const std::string& runner) {
  const MemoryFile output = MemoryFile::create("krl-gpus");
  Command command;
  command.arguments = {runner, "--list"};
  command.environment = gpu_environment();
  command.descriptors = {{output.descriptor(), 1}};
  const Ending ending = Subprocess(command).wait(kSearchLimit);
  ::lseek(output.descriptor(), 0, SEEK_SET);
  const auto message = ending.ok() ? read_message(output.descriptor()) : std::nullopt;
  if (!message) no_gpu("looking for GPUs failed: " + runner + " " + ending.description());
  if (message->contains("error")) no_gpu(message->at("error").get<std::string>());
  return message->at("gpus").get<std::vector<gpu::GpuDescription>>();
}

}  // namespace

std::vector<std::string> gpu_environment() {
  std::vector<std::string> environment = {"CUDA_MODULE_LOADING=EAGER"};
  for (const char* name :
       {"CUDA_DEVICE_ORDER", "CUDA_HOME", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"}) {
    if (const char* value = std::getenv(name)) {
      environment.push_back(std::string(name) + "=" + value);
    }
  }
  return environment;
}

std::vector<gpu::GpuDescription> find_gpus(const std::string& runner,
                                           const std::vector<int>& indices) {
  std::vector<gpu::GpuDescription> all = all_gpus(runner);
  if (all.empty()) no_gpu("the NVIDIA driver finds no GPU");
  if (indices.empty()) return all;
  std::vector<gpu::GpuDescription> wanted;
  for (const int index : indices) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& gpu) { return gpu.index == index; });
    if (found == all.end()) {
      invalid_argument("gpus: there is no GPU " + std::to_string(index) + " among the " +
                       std::to_string(all.size()) + " that the driver sees");
    }
    wanted.push_back(*found);
  }
  return wanted;
}

}  // namespace krl::cuda
