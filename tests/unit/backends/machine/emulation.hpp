// For tests: CUDA source in, the machine's result and the buffers' contents out. The source is
// compiled by NVRTC and the job executed within this process.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/backends/cpu/machine_protocol.hpp"
#include "tests/unit/backends/machine/nvrtc.hpp"

namespace krl::machine {
using namespace cpu;

using namespace cpu;

// One run: buffers, launches, then `run`.
class Emulation {
 public:
  explicit Emulation(CompiledModule module) : module_(std::move(module)) {
    job.kernels = module_.names;
  }
  Emulation(std::string_view source, const std::vector<std::string>& kernels)
      : Emulation(compile(source, kernels)) {}

  // Adds a buffer with these elements and returns it as an argument.
  template <class T>
  BufferArgument input(std::string name, const std::vector<T>& values) {
    return add(std::move(name), values.data(), values.size(), sizeof(T), false);
  }
  template <class T>
  BufferArgument output(std::string name, std::size_t count, T fill = T()) {
    return output(std::move(name), std::vector<T>(count, fill));
  }
  template <class T>
  BufferArgument output(std::string name, const std::vector<T>& values) {
    return add(std::move(name), values.data(), values.size(), sizeof(T), true);
  }
  // … without values, as outputs of a task and scratch buffers are.
  template <class T>
  BufferArgument unset(std::string name, std::size_t count, Role role = Role::kOutput) {
    const BufferArgument argument = output<T>(std::move(name), count);
    run_.buffers.back().role = role;
    return argument;
  }

  void launch(std::uint32_t kernel, Dim3 grid, Dim3 block, std::vector<Argument> arguments,
              std::uint32_t dynamic_shared_bytes = 0, std::uint32_t resident_blocks = 0) {
    run_.launches.push_back(
        {kernel, grid, block, dynamic_shared_bytes, std::move(arguments), resident_blocks});
  }

  // Executes the run once in `order`; buffers keep what it left in them.
  Result run(Order order = Order::kForward, std::uint32_t held_line = 0);

  template <class T>
  std::vector<T> values(BufferArgument argument) const {
    const Buffer& buffer = run_.buffers[argument.buffer];
    std::vector<T> result(buffer.bytes / sizeof(T));
    std::memcpy(result.data(), arena_.data() + buffer.offset, buffer.bytes);
    return result;
  }

  const std::string& compile_log() const { return module_.log; }

  Job job;                         // settings: limits, seed; its runs are replaced
  bool redundant_threads = false;  // see Run

 private:
  BufferArgument add(std::string name, const void* data, std::size_t count,
                     std::uint32_t element_size, bool writable);

  std::string source_name(const std::string& name) const;

  CompiledModule module_;
  Run run_;
  std::vector<std::byte> arena_;
};

}  // namespace krl::machine
