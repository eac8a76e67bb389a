#include "core/plugin/host.hpp"

#include <string_view>

namespace krl {
namespace {

const void* no_extension(const krl_host*, krl_str) { return nullptr; }

constexpr std::string_view kName = "kernelrl";
constexpr std::string_view kVersion = KERNELRL_VERSION;

}  // namespace

const krl_host* host() {
  static const krl_host the_host{sizeof(krl_host),
                                 KRL_ABI_MINOR,
                                 nullptr,
                                 {kName.data(), kName.size()},
                                 {kVersion.data(), kVersion.size()},
                                 no_extension};
  return &the_host;
}

}  // namespace krl
