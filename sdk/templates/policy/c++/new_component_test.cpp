// The plugin, loaded from its file as kernelrl loads it.
#include <cstdio>
#include <kernelrl/testing.hpp>

int main(int, char** argv) {
  const krl::testing::Plugin plugin(argv[1]);
  const auto policy = plugin.policy("new_vendor.new_component", {{"answer", "text"}});
  krl::RequestValue request;
  request.n_samples = 2;
  const auto samples = policy.sample({request});
  if (samples.size() == 2 && samples[1].index == 1 && samples[1].text == "text") return 0;
  std::printf("%d samples instead of 2\n", static_cast<int>(samples.size()));
  return 1;
}
