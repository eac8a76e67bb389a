// kernelrl-gpu-runner: runs candidates' device code on a GPU, and nothing else.
//
//   kernelrl-gpu-runner          answers requests (protocol.hpp)
//   kernelrl-gpu-runner --list   one message: {"gpus": […]}, or {"error": "no NVIDIA driver …"}
//
// A candidate can write anywhere in this process' GPU memory, and its fault or hang ends the
// process. So no expected value and no verdict is ever here. A baseline's code is here, to be timed
// under the same conditions; its time is trusted as far as the checker measures the same.
#include <unistd.h>

#include <memory>
#include <string_view>

#include "plugins/backends/cuda/worker/device_session.hpp"
#include "plugins/backends/cuda/worker/gpu_list.hpp"
#include "plugins/backends/cuda/worker/serve.hpp"
#include "plugins/process/message_stream.hpp"

namespace {

using nlohmann::json;

int list() {
  json message;
  try {
    message["gpus"] = krl::gpu::list_gpus();
  } catch (const std::exception& error) {
    message = {{"error", error.what()}};
  }
  return krl::process::write_message(STDOUT_FILENO, message) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace krl::gpu;
  if (argc == 2 && std::string_view(argv[1]) == "--list") return list();
  std::unique_ptr<DeviceSession> session;
  Handlers handlers = session_handlers(session);
  handlers["setup"] = [&](const json& request) -> json {
    session = std::make_unique<DeviceSession>(request.get<Setup>());
    return Ready{session->arena_handle(), false};
  };
  return serve(handlers);
}
