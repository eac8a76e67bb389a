// The plugin, loaded from its file as kernelrl loads it.
#include <cstdio>
#include <kernelrl/testing.hpp>

int main(int, char** argv) {
  const krl::testing::Plugin plugin(argv[1]);
  const auto policy = plugin.create<krl_policy_v>(KRL_POLICY, "new_vendor.new_component");
  const auto info = krl::testing::policy_description([&](const krl_policy_info_sink* sink) {
    policy.call().require(policy.table().describe(policy.self(), policy.context(), sink));
  });
  if (krl::view(info.description) == "one answer") return 0;
  std::printf("it describes itself as '%s'\n", krl::copy(info.description).c_str());
  return 1;
}
