#include "plugins/backends/nvrtc/compile_servers.hpp"

#include <utility>

#include "plugins/backends/nvrtc/needed_language.hpp"

namespace krl::nvrtc {
using namespace evaluator;
namespace {

constexpr std::uint64_t kPrecompiledBytes = std::uint64_t{256} << 20;

WarmServerOptions warm(CompileServerOptions&& options) {
  std::vector<std::string> command = {options.program, options.library};
  if (!options.assembler.empty()) command.push_back(options.assembler);
  return {std::move(options.launcher), std::move(command), std::move(options.rules),
          options.time_limit, kPrecompiledBytes};
}

}  // namespace

CompileServers::CompileServers(CompileServerOptions options)
    : options_(std::move(options.options)), servers_(warm(std::move(options))) {}

CompileOutput CompileServers::compile(std::string_view source,
                                      const std::vector<std::string>& kernels,
                                      const Cancelled& cancelled) {
  CompileRequest request{preamble_of(source), std::string(source), options_, kernels};
  if (is_minimal(source)) request.options.emplace_back("--minimal");
  return servers_.compile(std::move(request), cancelled);
}

CompileOutput CompileServers::assemble(std::string_view ptx,
                                       const std::vector<std::string>& kernels,
                                       const Cancelled& cancelled) {
  CompileRequest request{"", std::string(ptx), options_, kernels};
  request.is_ptx = true;
  return servers_.compile(std::move(request), cancelled);
}

}  // namespace krl::nvrtc
