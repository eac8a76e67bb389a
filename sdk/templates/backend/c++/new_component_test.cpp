// The plugin, loaded from its file as kernelrl loads it.
#include <cstdio>
#include <kernelrl/testing.hpp>

int main(int, char** argv) {
  const krl::testing::Plugin plugin(argv[1]);
  const auto backend = plugin.backend("new_vendor.new_component");
  if (backend.evaluate("void f() {").verdict == krl::Verdict::kCompileError) return 0;
  std::printf("an open bracket was not refused\n");
  return 1;
}
