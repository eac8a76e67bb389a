// kernelrl-machine: executes one candidate's PTX and reports; see machine_protocol.hpp for its file
// descriptors. Exit code 0: the result is on descriptor 5. 2: the job could not be read, or its
// descriptors are not there.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "plugins/backends/cpu/machine/job_runner.hpp"
#include "plugins/backends/evaluator/sandbox/allowed_calls.hpp"
#include "plugins/files/descriptor.hpp"

namespace {

constexpr int kBadCall = 2;

int fail(const std::string& what) {
  std::fprintf(stderr, "kernelrl-machine: %s\n", what.c_str());
  return kBadCall;
}

// A file of the caller's, mapped; empty on failure.
std::span<std::byte> map(int descriptor, int protection, int flags) {
  struct stat status;
  if (fstat(descriptor, &status) != 0 || status.st_size <= 0) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  void* memory = mmap(nullptr, size, protection, flags, descriptor, 0);
  if (memory == MAP_FAILED) return {};
  return {static_cast<std::byte*>(memory), size};
}

// When a page of a file in memory is first read, Linux maps the 64 KiB around it, which takes a
// third less time than MAP_POPULATE. If it maps less, the rest follows when it is touched.
void map_pages(std::span<const std::byte> memory) {
  constexpr std::size_t kAround = 64 << 10;
  for (std::size_t at = 0; at < memory.size(); at += kAround) {
    static_cast<void>(*static_cast<const volatile std::byte*>(&memory[at]));
  }
}

}  // namespace

int main() {
  using namespace krl::cpu;
  Job job;
  try {
    job = nlohmann::json::parse(krl::files::read_all(kJobDescriptor)).get<Job>();
  } catch (const nlohmann::json::exception& error) {
    return fail(std::string("the job is malformed: ") + error.what());
  }
  const auto arena = map(kArenaDescriptor, PROT_READ | PROT_WRITE, MAP_SHARED);
  if (arena.empty()) return fail("descriptor 3 is not an arena that can be mapped");
  map_pages(arena);
  const auto module = map(kModuleDescriptor, PROT_READ, MAP_PRIVATE);
  if (module.empty()) return fail("descriptor 4 is not a module that can be mapped");
  krl::sandbox::allow_only(krl::sandbox::computing_calls());  // nothing else is needed from here on
  const Result result = krl::machine::run_job(
      job, {reinterpret_cast<const char*>(module.data()), module.size()}, arena);
  const std::string report =
      nlohmann::json(result).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (!krl::files::write_all(kResultDescriptor, report))
    return fail("cannot write the result to descriptor 5");
  _exit(0);  // nothing is left to tidy up that the end of the process does not
}
