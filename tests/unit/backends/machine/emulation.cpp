#include "tests/unit/backends/machine/emulation.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "plugins/backends/cpu/machine/job_runner.hpp"

namespace krl::machine {

BufferArgument Emulation::add(std::string name, const void* data, std::size_t count,
                              std::uint32_t element_size, bool writable) {
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.offset = (arena_.size() + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  buffer.bytes = count * element_size;
  buffer.element_size = element_size;
  buffer.writable = writable;
  buffer.role = writable ? Role::kInOut : Role::kInput;
  arena_.resize(buffer.offset + buffer.bytes);
  std::memcpy(arena_.data() + buffer.offset, data, buffer.bytes);
  run_.buffers.push_back(std::move(buffer));
  return {static_cast<std::uint32_t>(run_.buffers.size() - 1)};
}

// As the test named the kernel.
std::string Emulation::source_name(const std::string& name) const {
  const auto found = std::find(module_.names.begin(), module_.names.end(), name);
  if (found == module_.names.end()) return name;
  return module_.kernels[static_cast<std::size_t>(found - module_.names.begin())];
}

Result Emulation::run(Order order, std::uint32_t held_line) {
  run_.order = order;
  run_.held_line = held_line;
  run_.redundant_threads = redundant_threads;
  run_.count = true;
  job.runs = {run_};
  // The arena of a job is page-aligned, as mapped memory is.
  constexpr std::size_t kPage = 4096;
  const std::size_t bytes = (arena_.size() / kPage + 1) * kPage;
  const std::unique_ptr<std::byte, void (*)(void*)> memory(
      static_cast<std::byte*>(std::aligned_alloc(kPage, bytes)), std::free);
  std::copy(arena_.begin(), arena_.end(), memory.get());
  Result result = run_job(job, module_.ptx, {memory.get(), arena_.size()});
  std::copy_n(memory.get(), arena_.size(), arena_.begin());
  if (result.fault) result.fault->kernel = source_name(result.fault->kernel);
  return result;
}

}  // namespace krl::machine
