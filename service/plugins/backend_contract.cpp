#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <future>

#include "core/plugin/backend.hpp"
#include "service/plugins/contract.hpp"

namespace krl::service {
namespace backend_contract {
namespace {

std::string right_kernel() {
  const auto facts = facts_of(doubling_task());
  return facts ? facts->naive : "";
}

// Returns what models answer, and what nobody should.
std::vector<std::string> sources() {
  return {right_kernel(),
          "",
          "this is no code",
          "__global__ void kern(const float* x, float* out, int n) {}\n",
          std::string("__global__ void k() {}\0 \xff\xfe", 27),
          std::string(20'000, '('),
          std::string(1 << 20, 'a')};
}

Status starts(const Subject& subject) {
  KRL_TRY(subject.components.backend(subject.settings));
  return {};
}

Status prepares(const Subject& subject) {
  KRL_ASSIGN(const Backend* backend, subject.components.backend(subject.settings));
  return backend->prepare(doubling_task(), {});
}

Status judges(const Subject& subject) {
  KRL_ASSIGN(const Backend* backend, subject.components.backend(subject.settings));
  for (const std::string& source : sources())
    KRL_TRY(backend->evaluate(doubling_task(), source, {}));
  return {};
}

// True if some case, kernel or value of a right kernel has what the signal promises.
bool measured(const Evaluation& e, std::uint32_t signal) {
  const auto any_case = [&](auto has) { return std::ranges::any_of(e.cases, has); };
  const auto any_kernel = [&](auto has) { return std::ranges::any_of(e.kernels, has); };
  switch (signal) {
    case KRL_SIGNAL_CORRECTNESS:
      return !e.cases.empty();
    case KRL_SIGNAL_TIME:
      return any_case([](const Case& c) { return c.time_ns > 0 || c.speedup > 0; });
    case KRL_SIGNAL_REGISTERS:
      return any_kernel([](const Kernel& k) { return k.registers >= 0; });
    case KRL_SIGNAL_SHARED_MEMORY:
      return any_kernel([](const Kernel& k) { return k.shared_bytes >= 0; });
    case KRL_SIGNAL_OCCUPANCY:
      return any_kernel([](const Kernel& k) { return !std::isnan(k.occupancy); });
    case KRL_SIGNAL_INSTRUCTIONS:
    case KRL_SIGNAL_MEMORY:
      return !e.values.empty();
    default:
      return true;
  }
}

Status measures(const Subject& subject) {
  KRL_ASSIGN(const Backend* backend, subject.components.backend(subject.settings));
  if (backend->info().signals == 0)
    return broken("it declares no signal: nothing could be paid for");
  KRL_ASSIGN(const Evaluation right, backend->evaluate(doubling_task(), right_kernel(), {}));
  if (right.verdict != Verdict::kOk)
    return broken(fmt::format("a right kernel of {} is {}: {}", doubling_task().id,
                              name_of(right.verdict), right.why));
  for (std::uint32_t bit = 1; bit <= KRL_SIGNAL_MEMORY; bit <<= 1) {
    if ((backend->info().signals & bit) != 0 && !measured(right, bit))
      return broken("it declares the signal " + signal_names(bit) +
                    " and gives no such figure of a right kernel");
  }
  return {};
}

// The verdicts of all sources in a line each.
Result<std::string> verdicts_of(const Backend& backend) {
  std::string verdicts;
  for (const std::string& source : sources()) {
    KRL_ASSIGN(const Evaluation e, backend.evaluate(doubling_task(), source, {}));
    verdicts += fmt::format("{}", name_of(e.verdict));
    for (const Case& c : e.cases) verdicts += fmt::format(" {}:{}", c.label, name_of(c.verdict));
    verdicts += '\n';
  }
  return verdicts;
}

Status repeats(const Subject& subject) {
  KRL_ASSIGN(const Backend* backend, subject.components.backend(subject.settings));
  KRL_ASSIGN(const std::string first, verdicts_of(*backend));
  KRL_ASSIGN(const std::string second, verdicts_of(*backend));
  if (first != second)
    return broken("the same kernels with the same seed got the verdicts\n" + first + "and then\n" +
                  second);
  return {};
}

Status overlaps(const Subject& subject) {
  KRL_ASSIGN(const Backend* backend, subject.components.backend(subject.settings));
  KRL_ASSIGN(const std::string alone, verdicts_of(*backend));
  std::vector<std::future<Result<std::string>>> calls;
  for (int thread = 0; thread < 4; ++thread)
    calls.push_back(std::async(std::launch::async, [&] { return verdicts_of(*backend); }));
  for (auto& call : calls) {
    KRL_ASSIGN(const std::string beside, call.get());
    if (beside != alone)
      return broken("verdicts differ beside other calls:\n" + alone + "and\n" + beside);
  }
  return {};
}

Status obeys(const Subject& subject) {
  const auto backend = subject.cancelled.backend(subject.settings);
  if (!backend) return {};
  const auto evaluation = (*backend)->evaluate(doubling_task(), right_kernel(), {});
  if (evaluation || evaluation.error().code == Code::kCancelled) return {};
  return failure(evaluation.error());
}

constexpr std::array kRules = {
    Rule{"starts", "an instance is made, describes itself, and is destroyed", starts},
    Rule{"prepares", "a sound task is accepted", prepares},
    Rule{"judges", "every source gets one verdict, last, with cases that agree with it", judges},
    Rule{"measures", "the figures of a right kernel are those that its signals promise", measures},
    Rule{"repeats", "the same kernel with the same seed gets the same verdict", repeats},
    Rule{"overlaps", "calls on one instance may overlap", overlaps, unless_thread_safe},
    Rule{"obeys", "a cancelled call ends, as cancelled or with its verdict", obeys},
};

}  // namespace
}  // namespace backend_contract

std::span<const Rule> backend_rules() { return backend_contract::kRules; }

}  // namespace krl::service
