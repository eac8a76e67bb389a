#include "plugins/backends/evaluator/oracle/oracle_client.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <kernelrl/values.hpp>

namespace krl {
namespace {

constexpr std::uint64_t kAlignment = 64;
constexpr std::uint64_t kOracleAddressSpace = std::uint64_t{32} << 30;  // libtorch maps a lot
constexpr std::uint32_t kOracleCpuSeconds = 1'000'000;                  // it lives as long as we do

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

// Where everything of one request lies in the shared memory.
OracleRequest layout(const TaskDefinition& task, const ResolvedCase& resolved) {
  OracleRequest request;
  request.reference = task.reference;
  std::uint64_t end = 0;
  const auto reserve = [&](std::uint64_t bytes) {
    const std::uint64_t start = aligned(end);
    end = start + bytes;
    return start;
  };
  for (const TensorDefinition& definition : task.inputs) {
    const ResolvedTensor& tensor = *resolved.find(definition.name);
    const auto bytes = static_cast<std::uint64_t>(tensor.bytes());
    request.inputs.push_back({tensor.dtype, tensor.shape, reserve(bytes), 0});
  }
  for (const ResolvedScalar& scalar : resolved.scalars) {
    request.scalars.push_back({scalar.dtype, scalar.real, scalar.integer});
  }
  for (const TensorDefinition& definition : task.outputs) {
    const ResolvedTensor& tensor = *resolved.find(definition.name);
    const auto elements = static_cast<std::uint64_t>(tensor.elements);
    OracleTensor output{tensor.dtype, tensor.shape, reserve(elements * 8), 0};
    if (is_floating(tensor.dtype)) output.own_error = reserve(elements * 4);
    request.outputs.push_back(std::move(output));
  }
  request.memory_bytes = aligned(end);
  return request;
}

// A write to an oracle that died is an error, not a signal that ends the host: SIGPIPE is held back
// on this thread and taken away if it came.
class BrokenPipeGuard {
 public:
  BrokenPipeGuard() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  BrokenPipeGuard(const BrokenPipeGuard&) = delete;
  ~BrokenPipeGuard() {
    const timespec at_once{0, 0};
    if (!::sigismember(&before_, SIGPIPE)) ::sigtimedwait(&pipe_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_, before_;
};

template <class T>
std::vector<T> copied(std::span<const std::byte> memory, std::uint64_t offset,
                      std::uint64_t elements) {
  std::vector<T> values(elements);
  std::memcpy(values.data(), memory.data() + offset, elements * sizeof(T));
  return values;
}

}  // namespace

// One running oracle.
struct OracleClient::Session {
  Descriptor requests, answers;
  MemoryFile file;
  std::span<std::byte> memory;
  std::unique_ptr<Subprocess> process;

  explicit Session(const OracleOptions& options) : file(MemoryFile::create("krl-oracle")) {
    int to_oracle[2], to_us[2];
    if (::pipe2(to_oracle, O_CLOEXEC) != 0) throw Failure(KRL_UNAVAILABLE, "no pipe is left");
    requests = Descriptor(to_oracle[1]);
    const Descriptor their_requests(to_oracle[0]);
    if (::pipe2(to_us, O_CLOEXEC) != 0) throw Failure(KRL_UNAVAILABLE, "no pipe is left");
    answers = Descriptor(to_us[0]);
    const Descriptor their_answers(to_us[1]);
    SandboxRules rules;
    rules.address_space_bytes = kOracleAddressSpace;
    rules.cpu_seconds = kOracleCpuSeconds;
    rules.readable = options.readable;
    Command command = sandboxed(options.launcher, rules, {{options.program}});
    command.descriptors = {{their_requests.get(), 0},
                           {their_answers.get(), 1},
                           {file.descriptor(), kOracleMemoryDescriptor}};
    process = std::make_unique<Subprocess>(command);
  }
  ~Session() {
    if (!memory.empty()) ::munmap(memory.data(), memory.size());
  }

  void grow(std::uint64_t bytes) {
    if (bytes <= memory.size()) return;
    if (!memory.empty()) ::munmap(memory.data(), memory.size());
    memory = {};
    if (::ftruncate(file.descriptor(), static_cast<off_t>(bytes)) != 0) {
      throw Failure(KRL_UNAVAILABLE, std::string("memory of the oracle: ") + std::strerror(errno));
    }
    void* start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
    if (start == MAP_FAILED) throw Failure(KRL_UNAVAILABLE, "memory of the oracle: mmap failed");
    memory = {static_cast<std::byte*>(start), bytes};
  }

  // False if the oracle died or took too long.
  bool ask(const OracleRequest& request, const std::vector<std::vector<std::byte>>& inputs,
           std::chrono::milliseconds limit, OracleAnswer* answer) {
    grow(request.memory_bytes);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      std::memcpy(memory.data() + request.inputs[i].offset, inputs[i].data(), inputs[i].size());
    }
    nlohmann::json message;
    const BrokenPipeGuard guard;
    if (!write_message(requests.get(), request)) return false;
    if (!read_message(answers.get(), &message, static_cast<int>(limit.count()))) return false;
    message.get_to(*answer);
    return true;
  }
};

pid_t OracleClient::process_id() {
  const std::scoped_lock lock(mutex_);
  return session_ && session_->process->running() ? session_->process->id() : 0;
}

OracleAnswer OracleClient::ask(const OracleRequest& request,
                               const std::vector<std::vector<std::byte>>& inputs) {
  OracleAnswer answer;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!session_ || !session_->process->running()) {
      session_ = std::make_shared<Session>(options_);
    }
    if (session_->ask(request, inputs, options_.request_limit, &answer)) return answer;
    session_.reset();
  }
  throw Failure(KRL_UNAVAILABLE,
                "the oracle (" + options_.program + ") died or hung twice on one request");
}

std::vector<ExpectedOutput> OracleClient::expected(
    const TaskDefinition& task, const ResolvedCase& resolved,
    const std::vector<std::vector<std::byte>>& inputs) {
  const OracleRequest request = layout(task, resolved);
  const std::scoped_lock lock(mutex_);
  const OracleAnswer answer = ask(request, inputs);
  if (answer.problem) {
    const ReferenceProblem& problem = *answer.problem;
    const std::string place =
        task.origin.locate("reference", std::max(problem.line, 1), std::max(problem.column, 1));
    throw Failure(KRL_INVALID_ARGUMENT, (place.empty() ? task.id : place) + ": the reference, " +
                                            resolved.label + ": " + problem.message);
  }
  std::vector<ExpectedOutput> outputs;
  for (const OracleTensor& output : request.outputs) {
    std::uint64_t elements = 1;
    for (const std::int64_t size : output.shape) elements *= static_cast<std::uint64_t>(size);
    ExpectedOutput expected;
    if (is_floating(output.dtype)) {
      expected.reals = copied<double>(session_->memory, output.offset, elements);
      expected.own_error = copied<float>(session_->memory, output.own_error, elements);
    } else {
      expected.integers = copied<std::int64_t>(session_->memory, output.offset, elements);
    }
    outputs.push_back(std::move(expected));
  }
  return outputs;
}

}  // namespace krl
