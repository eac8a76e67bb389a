// The plugin, loaded from its file as kernelrl loads it.
#include <cstdio>
#include <kernelrl/testing.hpp>

int main(int, char** argv) {
  const krl::testing::Plugin plugin(argv[1]);
  const auto data = plugin.dataset("new_vendor.new_component", {{"count", 3}});
  if (data.size() == 3 && data.read(0).id == "scaled_copy_2") return 0;
  std::printf("%d tasks, the first of them '%s'\n", static_cast<int>(data.size()),
              data.read(0).id.c_str());
  return 1;
}
