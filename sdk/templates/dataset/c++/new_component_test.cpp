// The plugin, loaded from its file as kernelrl loads it.
#include <cstdio>
#include <kernelrl/testing.hpp>

int main(int, char** argv) {
  const krl::testing::Plugin plugin(argv[1]);
  const auto data =
      plugin.create<krl_dataset_v>(KRL_DATASET, "new_vendor.new_component", {{"count", 3}});
  std::uint64_t size = 0;
  data.call().require(data.table().size(data.self(), data.context(), &size));
  if (size == 3) return 0;
  std::printf("%d tasks instead of 3\n", static_cast<int>(size));
  return 1;
}
