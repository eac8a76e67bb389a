// The policy as a host meets it: the plugin's file, called through the C boundary.
#pragma once

#include <kernelrl/testing.hpp>

#include "tests/unit/policies/recording_host.hpp"

namespace krl::openai::testing {

class OpenAi {
 public:
  // Throws Failure if the policy refuses its options.
  explicit OpenAi(krl::testing::Table options)
      : instance_(plugin().create<krl_policy_v>(KRL_POLICY, "openai", std::move(options))) {}

  static const krl::testing::Plugin& plugin() {
    static const krl::testing::Plugin plugin(std::string(KERNELRL_BINARY_DIR) +
                                             "/lib/kernelrl/plugins/openai.krl.so");
    return plugin;
  }

  krl::testing::PolicyDescription describe() {
    return krl::testing::policy_description([this](const krl_policy_info_sink* sink) {
      call().require(table().describe(self(), context(), sink));
    });
  }

  // The status of the call; `error` then says why.
  krl_status sample(const krl::test::RequestList& requests,
                    const krl::test::SampleCollector& sink) {
    return table().sample(self(), host.c(), requests.data(), requests.size(), sink.c());
  }

  const krl_policy_v& table() const { return instance_.table(); }
  void* self() const { return instance_.self(); }
  krl::testing::Call& call() const { return instance_.call(); }
  const krl_call* context() const { return instance_.context(); }

  krl::test::RecordingContext host;  // of sample()

 private:
  krl::testing::Instance<krl_policy_v> instance_;
};

}  // namespace krl::openai::testing
