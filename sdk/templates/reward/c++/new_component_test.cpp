// The plugin, loaded from its file as kernelrl loads it.
#include <cstdio>
#include <kernelrl/testing.hpp>

int main(int, char** argv) {
  const krl::testing::Plugin plugin(argv[1]);
  const auto term = plugin.reward("new_vendor.new_component", {{"limit", 100.0}});
  const double score = term.score(krl::testing::TurnBuilder().source(std::string(25, 'x')));
  if (score == 0.75) return 0;
  std::printf("a source of 25 characters scored %g, not 0.75\n", score);
  return 1;
}
