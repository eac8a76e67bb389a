#include "plugins/backends/nvrtc/compiled_module.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

namespace krl::nvrtc {

using nlohmann::json;

std::string to_bytes(const CompiledModule& module) {
  const json document = {{"cubin", json::binary({module.cubin.begin(), module.cubin.end()})},
                         {"report", json::binary({module.report.begin(), module.report.end()})},
                         {"names", module.names}};
  const std::vector<std::uint8_t> bytes = json::to_cbor(document);
  return {bytes.begin(), bytes.end()};
}

std::optional<CompiledModule> module_from_bytes(std::string_view bytes) {
  try {
    const json document = json::from_cbor(bytes.begin(), bytes.end());
    const auto text = [&](const char* key) {
      const auto& content = document.at(key).get_binary();
      return std::string(content.begin(), content.end());
    };
    return CompiledModule{text("cubin"), text("report"),
                          document.at("names").get<std::vector<std::string>>()};
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace krl::nvrtc
