// The plugin `tinker` as a host meets it: opened by its path, called through the C boundary. Its
// calls throw krl::Failure.
#pragma once

#include <kernelrl/testing/description.hpp>
#include <kernelrl/testing/plugin.hpp>
#include <string>

#include "tests/unit/policies/recording_host.hpp"

namespace krl::tinker::testing {

using krl::test::ExampleList;
using krl::test::LogprobCollector;
using krl::test::LossSpec;
using krl::test::RequestList;
using krl::test::SampleCollector;
using krl::testing::Table;

class RemotePolicy {
 public:
  explicit RemotePolicy(Table options)
      : instance_(plugin().create<krl_policy_v>(KRL_POLICY, "tinker", std::move(options))) {}

  static const krl::testing::Plugin& plugin() {
    static const krl::testing::Plugin loaded(KERNELRL_BINARY_DIR
                                             "/lib/kernelrl/plugins/tinker.krl.so");
    return loaded;
  }

  krl::testing::Call& call() { return instance_.call(); }

  krl::testing::PolicyDescription describe() {
    return krl::testing::policy_description([this](const krl_policy_info_sink* sink) {
      require(table().describe(self(), context(), sink));
    });
  }
  SampleCollector sample(const RequestList& requests) {
    SampleCollector collector;
    require(table().sample(self(), context(), requests.data(), requests.size(), collector.c()));
    return collector;
  }
  void sample_stream(const krl_request_source& source, const SampleCollector& collector) {
    require(table().sample_stream(self(), context(), &source, collector.c()));
  }
  std::map<std::size_t, std::vector<float>> logprobs(const ExampleList& examples,
                                                     double temperature = 1) {
    LogprobCollector collector;
    require(table().logprobs(self(), context(), temperature, examples.data(), examples.size(),
                             collector.c()));
    return collector.logprobs;
  }
  void forward_backward(const LossSpec& loss, const ExampleList& examples) {
    require(
        table().forward_backward(self(), context(), loss.c(), examples.data(), examples.size()));
  }
  void optimizer_step(const krl_optimizer& optimizer) {
    require(table().optimizer_step(self(), context(), &optimizer));
  }
  std::uint64_t publish() {
    std::uint64_t version = 0;
    require(table().publish(self(), context(), &version));
    return version;
  }
  void save(const std::string& directory) {
    require(table().save(self(), context(), to_c(directory)));
  }
  void load(const std::string& directory) {
    require(table().load(self(), context(), to_c(directory)));
  }
  void forget(const std::string& directory) {
    require(table().forget(self(), context(), to_c(directory)));
  }

 private:
  const krl_policy_v& table() const { return instance_.table(); }
  void* self() const { return instance_.self(); }
  const krl_call* context() const { return instance_.context(); }
  void require(krl_status status) {
    if (status != KRL_OK) throw Failure(status, instance_.call().why);
  }

  krl::testing::Instance<krl_policy_v> instance_;
};

// What a call's failure says, "CODE: why"; empty if it did not fail.
template <class Call>
std::string failure_of(Call&& call) {
  try {
    call();
  } catch (const Failure& failure) {
    return std::to_string(failure.code()) + ": " + failure.what();
  }
  return "";
}

}  // namespace krl::tinker::testing
