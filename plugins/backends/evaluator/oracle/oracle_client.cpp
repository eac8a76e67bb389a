#include "plugins/backends/evaluator/oracle/oracle_client.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <kernelrl/values.hpp>

#include "plugins/backends/evaluator/task_origin.hpp"
#include "plugins/process/conversation.hpp"

namespace krl::evaluator {
namespace {

constexpr std::uint64_t kOracleAddressSpace = std::uint64_t{32} << 30;  // libtorch maps a lot
constexpr std::uint32_t kOracleCpuSeconds = 1'000'000;                  // it lives as long as we do

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
  MemoryFile file;
  std::span<std::byte> memory;
  Conversation oracle;

  explicit Session(const OracleOptions& options)
      : file(MemoryFile::create("krl-oracle")), oracle(command(options, file)) {}
  ~Session() {
    if (!memory.empty()) ::munmap(memory.data(), memory.size());
  }

  static Command command(const OracleOptions& options, const MemoryFile& file) {
    SandboxRules rules;
    rules.address_space_bytes = kOracleAddressSpace;
    rules.cpu_seconds = kOracleCpuSeconds;
    rules.readable = options.readable;
    Command command = sandboxed(options.launcher, rules, {{options.program}});
    command.descriptors = {{file.descriptor(), kOracleMemoryDescriptor}};
    return command;
  }

  void grow(std::uint64_t bytes) {
    if (bytes <= memory.size()) return;
    if (!memory.empty()) ::munmap(memory.data(), memory.size());
    memory = {};
    if (::ftruncate(file.descriptor(), static_cast<off_t>(bytes)) != 0) {
      throw Failure(KRL_UNAVAILABLE, std::string("cannot allocate the oracle's shared memory: ") +
                                         std::strerror(errno));
    }
    void* start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
    if (start == MAP_FAILED) {
      throw Failure(KRL_UNAVAILABLE, std::string("cannot allocate the oracle's shared memory: ") +
                                         std::strerror(errno));
    }
    memory = {static_cast<std::byte*>(start), bytes};
  }

  // No value if the oracle died or took too long.
  std::optional<OracleAnswer> ask(const OracleRequest& request,
                                  const std::vector<std::vector<std::byte>>& inputs,
                                  std::chrono::milliseconds limit) {
    grow(request.memory_bytes);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      std::memcpy(memory.data() + request.inputs[i].offset, inputs[i].data(), inputs[i].size());
    }
    const auto answer = oracle.ask(request, limit);
    if (!answer) return std::nullopt;
    try {
      return answer->get<OracleAnswer>();
    } catch (const nlohmann::json::exception&) {
      return std::nullopt;  // the answer is useless
    }
  }

  // Explains why ask() returned no value.
  std::string why_silent(std::chrono::milliseconds limit) {
    if (oracle.timed_out())
      return "took more than " + std::to_string(limit.count()) +
             " ms: the case is too large for it, or the machine too busy";
    const Ending ending = oracle.end(std::chrono::seconds(1));
    if (ending.ok()) return "sent an invalid answer";
    const std::string complaint = oracle.complaint();
    return ending.description() + (complaint.empty() ? "" : ": " + complaint) +
           (ending.signal == SIGKILL ? ", as happens when memory is short" : "");
  }
};

Failure reference_failure(const TaskDefinition& task, const ResolvedCase& resolved,
                          const ReferenceProblem& problem) {
  const std::string place =
      origin_of(task, "reference", std::max(problem.line, 1), std::max(problem.column, 1));
  return {KRL_INVALID_ARGUMENT,
          place + ": the reference, " + resolved.label + ": " + problem.message};
}

pid_t OracleClient::process_id() {
  const std::scoped_lock lock(mutex_);
  return session_ && session_->oracle.process().running() ? session_->oracle.process().id() : 0;
}

OracleAnswer OracleClient::ask(const OracleRequest& request,
                               const std::vector<std::vector<std::byte>>& inputs) {
  std::string why;
  for (const int slack : {1, kWallSlack}) {
    if (!session_ || !session_->oracle.process().running()) {
      session_ = std::make_shared<Session>(options_);
    }
    const auto limit = options_.request_limit * slack;
    if (auto answer = session_->ask(request, inputs, limit)) return *answer;
    why = session_->why_silent(limit);
    session_.reset();
  }
  throw Failure(KRL_UNAVAILABLE, "the oracle (" + options_.program + ") " + why +
                                     ", after a first attempt at the same that failed as well");
}

std::vector<ExpectedOutput> OracleClient::expected(
    const TaskDefinition& task, const ResolvedCase& resolved,
    const std::vector<std::vector<std::byte>>& inputs, bool repeats) {
  const OracleRequest request = oracle_request(task, resolved, repeats);
  const std::scoped_lock lock(mutex_);
  OracleAnswer answer;
  try {
    answer = ask(request, inputs);
  } catch (const Failure& failure) {
    throw Failure(failure.code(), "the reference, " + resolved.label + ": " + failure.what());
  }
  if (answer.problem) throw reference_failure(task, resolved, *answer.problem);
  std::vector<ExpectedOutput> outputs;
  for (const OracleTensor& output : request.outputs) {
    std::uint64_t elements = 1;
    for (const std::int64_t size : output.shape) elements *= static_cast<std::uint64_t>(size);
    ExpectedOutput expected;
    if (is_floating(output.dtype)) {
      expected.reals = copied<double>(session_->memory, output.offset, elements);
      expected.rounding = copied<float>(session_->memory, output.rounding, elements);
    } else {
      expected.integers = copied<std::int64_t>(
          session_->memory, output.offset, elements * static_cast<std::uint64_t>(output.choices));
    }
    outputs.push_back(std::move(expected));
  }
  return outputs;
}

}  // namespace krl::evaluator
