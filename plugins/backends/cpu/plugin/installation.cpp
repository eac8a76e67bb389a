#include "plugins/backends/cpu/plugin/installation.hpp"

#include <filesystem>

namespace krl::cpu {
using namespace process;
namespace {

#ifdef __x86_64__
// Tells by three of its features whether the processor has x86-64-v3: those with these have the others.
// Clang 14 knows the features' names, but none of levels.
bool has_level_3() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi2") != 0 &&
         __builtin_cpu_supports("fma") != 0;
}
#endif

// The machine with the widest vectors that the processor has and that was built.
std::string machine_of(const InstalledFiles& files) {
  const std::string program = "kernelrl-machine-x86-64";
  std::string best = files.worker(program);
#ifdef __x86_64__
  const std::string wider = program + "-v3";
  if (has_level_3() && std::filesystem::exists(best.substr(0, best.rfind('/') + 1) + wider)) {
    best = files.worker(wider);
  }
#endif
  return best;
}

}  // namespace

Installation find_installation() {
  InstalledFiles files(reinterpret_cast<const void*>(&find_installation), "the cpu backend");
  std::string launcher = files.worker("kernelrl-sandbox"), machine = machine_of(files),
              oracle = files.worker("kernelrl-oracle");
  return {std::move(files), std::move(launcher), std::move(machine), std::move(oracle)};
}

}  // namespace krl::cpu
