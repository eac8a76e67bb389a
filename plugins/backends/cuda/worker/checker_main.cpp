// kernelrl-gpu-checker: the trusted process of a GPU. It computes the expected values by libtorch,
// compares runners' memory with them, and times baselines where no candidate ever was.
//
//   kernelrl-gpu-checker auto|cuda|cpu   where libtorch computes; auto: on the GPU if it can
#include <dlfcn.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>

#include "plugins/backends/cuda/worker/clock.hpp"
#include "plugins/backends/cuda/worker/input_use.hpp"
#include "plugins/backends/cuda/worker/launch_output_check.hpp"
#include "plugins/backends/cuda/worker/output_check.hpp"
#include "plugins/backends/cuda/worker/peaks.hpp"
#include "plugins/backends/cuda/worker/serve.hpp"

namespace {

using nlohmann::json;

// Divisors of the GPU's memory: limits on expected values and on pools of them, and what stays free
// for other processes and for libtorch.
constexpr std::uint64_t kExpectedShare = 5, kPoolShare = 10, kSpareShare = 10;

// Only a plan with a GPU needs libtorch's CUDA half, which needs much more than it.
bool load_torch_cuda() {
  if (::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
  std::fprintf(stderr, "kernelrl-gpu-checker: %s\n", ::dlerror());
  return false;
}

// Returns the GPU's free memory in bytes.
std::uint64_t free_bytes() {
  std::size_t free = 0, all = 0;
  KRL_CUDA(cuMemGetInfo, &free, &all);
  return free;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace krl::gpu;
  const std::string_view wanted = argc == 2 ? argv[1] : "auto";
  const bool on_gpu = wanted != "cpu" && load_torch_cuda();
  if (wanted == "cuda" && !on_gpu) return 2;
  int device = 0;
  std::unique_ptr<DeviceSession> session;
  std::optional<KeptMemory> kept;
  std::unique_ptr<OutputCheck> check;
  std::unique_ptr<LaunchOutputCheck> launches;
  Handlers handlers = session_handlers(session);
  handlers["setup"] = [&](const json& request) -> json {
    device = request.at("device");
    session = std::make_unique<DeviceSession>(request.get<Setup>());
    std::size_t memory = 0, ignored = 0;
    KRL_CUDA(cuMemGetInfo, &ignored, &memory);
    kept.emplace(free_bytes, memory / kSpareShare);
    check = std::make_unique<OutputCheck>(
        *session,
        on_gpu ? krl::evaluator::ReferenceDevice::kCuda : krl::evaluator::ReferenceDevice::kCpu,
        memory / kExpectedShare, *kept);
    launches = std::make_unique<LaunchOutputCheck>(*session, *check, memory / kPoolShare, *kept);
    return Ready{session->arena_handle(), on_gpu};
  };
  handlers.merge(Handlers{{"stage", calls(check, &OutputCheck::stage)},
                          {"fetch", calls(check, &OutputCheck::fetch)},
                          {"time_launches", calls(session, &DeviceSession::time_launches)},
                          {"transfer", calls(session, &DeviceSession::transfer)},
                          {"attach", calls(check, &OutputCheck::attach)},
                          {"detach", calls(check, &OutputCheck::detach)},
                          {"check", calls(check, &OutputCheck::check)},
                          {"is_intact", calls(check, &OutputCheck::is_intact)},
                          {"pool", calls(launches, &LaunchOutputCheck::make)},
                          {"examine", calls(launches, &LaunchOutputCheck::examine)},
                          {"input_shares",
                           [&](const json& request) -> json {
                             return krl::gpu::InputUse(*session, *check).shares(request);
                           }},
                          {"sums", calls(check, &OutputCheck::sums)},
                          {"traits", calls(check, &OutputCheck::traits)},
                          {"try_impostor", calls(check, &OutputCheck::try_impostor)},
                          {"time_reference", calls(check, &OutputCheck::time_reference)},
                          {"peaks", [&](const json&) -> json { return measure_peaks(*session); }},
                          {"slowdown", calls(session, &DeviceSession::slowdown)},
                          {"free_memory", [](const json&) -> json { return free_bytes(); }},
                          {"clock", [&](const json&) -> json { return sm_clock_mhz(device); }}});
  return serve(handlers);
}
