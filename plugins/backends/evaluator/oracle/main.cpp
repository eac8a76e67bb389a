// kernelrl-oracle: computes the expected values of tasks with libtorch.
//
// A separate process, so that no candidate ever shares memory with the answers, and so that
// libtorch is loaded once, alongside the host. It keeps the references that it compiled last.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugins/backends/evaluator/oracle/oracle_protocol.hpp"
#include "plugins/backends/evaluator/oracle/reference.hpp"
#include "plugins/process/message_stream.hpp"

namespace {

// The shared memory as the host has grown it last.
class Memory {
 public:
  std::byte* at_least(std::uint64_t bytes) {
    if (bytes <= size_) return start_;
    if (start_ != nullptr) ::munmap(start_, size_);
    void* start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                         krl::evaluator::kOracleMemoryDescriptor, 0);
    start_ = start == MAP_FAILED ? nullptr : static_cast<std::byte*>(start);
    size_ = start_ == nullptr ? 0 : bytes;
    return start_;
  }

 private:
  std::byte* start_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace

int main() {
  // Answers have a separate descriptor: what libtorch prints goes to stderr.
  const int answers = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::signal(SIGPIPE, SIG_IGN);
  Memory memory;
  krl::evaluator::ReferenceStore references;
  while (const auto message = krl::process::read_message(STDIN_FILENO)) {
    krl::evaluator::OracleAnswer answer;
    const auto request = message->get<krl::evaluator::OracleRequest>();
    std::byte* start = memory.at_least(request.memory_bytes);
    if (start == nullptr) return 1;
    answer.problem = references.compute(request, start);
    if (!krl::process::write_message(answers, answer)) return 1;
  }
  return 0;
}
