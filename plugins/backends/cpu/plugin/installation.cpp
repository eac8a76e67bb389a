#include "plugins/backends/cpu/plugin/installation.hpp"

#include "plugins/backends/evaluator/installed_files.hpp"

namespace krl {

Installation find_installation() {
  const InstalledFiles files(reinterpret_cast<const void*>(&find_installation), "the cpu backend");
  return {files.worker("kernelrl-sandbox"),
          files.worker("kernelrl-emulator"),
          files.worker("kernelrl-oracle"),
          files.shared_folder("cpu"),
          files.plugin(),
          files.wheels()};
}

}  // namespace krl
