// The `docker` backend: kernels compiled by nvcc in a locked container, and run on the GPUs of this
// machine. It runs compiled device code, whose host side is the harness's own, or a library in the
// sandbox of every backend. The container is for the compiler, which reads the candidate's text.
#include <algorithm>

#include "plugins/backends/cuda/cuda_backend.hpp"
#include "plugins/backends/cuda/host/host_headers.hpp"
#include "plugins/backends/docker/docker_compiler.hpp"

namespace krl::docker {
using namespace evaluator;

struct Docker final : cuda::CudaBackend {
  static constexpr std::uint32_t flags = CudaBackend::flags | KRL_TAKES_HOST;

  std::string socket, image = "kernelrl-worker";
  double timeout = 30;

  static constexpr auto config = std::tuple_cat(
      krl::config(opt("socket", &Docker::socket,
                      "the socket of Docker; empty = that of $DOCKER_HOST, or /run/docker.sock"),
                  opt("image", &Docker::image,
                      "image of the container; scripts/docker_image.sh builds the default one"),
                  opt("timeout", &Docker::timeout,
                      "wall-clock limit of a compile in the container, seconds")
                      .range(0.1, 3600)),
      cuda_options("memory of the container, shared by all compiles, MiB"));

  Docker() : CudaBackend("docker") { memory_mb = 8192; }

  CudaCompiler make_compiler(const CompileSettings& settings,
                             const InstalledFiles& files) const override {
    DockerCompilerSettings all;
    all.compile = settings;
    all.wheels = files.wheels();
    all.compile.memory_bytes = std::min(settings.memory_bytes, CompileSettings().memory_bytes);
    all.time_limit = milliseconds(timeout);
    all.container.socket = socket.empty() ? default_socket() : socket;
    all.container.image = image;
    all.container.commands_at_once = settings.at_a_time;
    all.container.memory_bytes = settings.memory_bytes;
    all.host_headers = files.shared_folder(cuda::kHostHeaders);
    return docker_compiler(all);
  }
};

}  // namespace krl::docker

KRL_PLUGIN("docker", "1.0.0",
           krl::backend<krl::docker::Docker>(
               "docker", "Compiles with nvcc in a container; checks and times on NVIDIA GPUs"))
