#include "tests/unit/backends/emulator/emulation.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "plugins/backends/cpu/emulator/job_runner.hpp"

namespace krl::emulator {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

CompiledModule compile(std::string_view source, const std::vector<std::string>& kernels) {
  char directory[] = "/tmp/kernelrl-emulator-test-XXXXXX";
  CompiledModule module{kernels, {}, {}};
  if (mkdtemp(directory) == nullptr) {
    module.log = "no temporary directory";
    return module;
  }
  const std::string base = directory;
  std::ofstream(base + "/source") << module_source(source, kernels);
  std::string command = "g++";
  for (const auto& flag : compile_flags(KERNELRL_SOURCE_DIR "/plugins/backends/cpu/shim"))
    command += " '" + flag + "'";
  command += " -o " + base + "/module < " + base + "/source 2> " + base + "/log";
  const int status = std::system(command.c_str());
  module.log = content_of(base + "/log");
  if (status == 0) module.elf = content_of(base + "/module");
  for (const char* name : {"/source", "/module", "/log"}) unlink((base + name).c_str());
  rmdir(directory);
  return module;
}

BufferArgument Emulation::add(std::string name, const void* data, std::size_t count,
                              std::uint32_t element_size, bool writable) {
  constexpr std::uint64_t kGuard = 4096;
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.offset =
      (arena_.size() + kGuard + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  buffer.bytes = count * element_size;
  buffer.element_size = element_size;
  buffer.writable = writable;
  buffer.role = writable ? Role::kOutput : Role::kInput;
  arena_.resize(buffer.offset + buffer.bytes + kGuard);
  std::memcpy(arena_.data() + buffer.offset, data, buffer.bytes);
  run_.buffers.push_back(std::move(buffer));
  return {static_cast<std::uint32_t>(run_.buffers.size() - 1)};
}

Result Emulation::run(Order order) {
  run_.order = order;
  run_.count = true;
  job.runs = {run_};
  // The arena of a job is page-aligned, as mapped memory is.
  auto* memory =
      static_cast<std::byte*>(std::aligned_alloc(4096, (arena_.size() + 8191) / 4096 * 4096));
  std::copy(arena_.begin(), arena_.end(), memory);  // none in some tests
  const Result result = run_job(job, module_.elf, {memory, arena_.size()});
  std::copy_n(memory, arena_.size(), arena_.begin());
  std::free(memory);
  return result;
}

}  // namespace krl::emulator
