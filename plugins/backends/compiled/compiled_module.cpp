#include "plugins/backends/compiled/compiled_module.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

namespace krl::compiled {

using nlohmann::json;

std::string to_bytes(const CompiledModule& module) {
  const auto binary = [](const std::string& text) {
    return json::binary({text.begin(), text.end()});
  };
  const json document = {{"cubin", binary(module.cubin)},
                         {"ptx", binary(module.ptx)},
                         {"report", binary(module.report)},
                         {"names", module.names},
                         {"library", binary(module.library)}};
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
    return CompiledModule{text("cubin"), text("ptx"), text("report"),
                          document.at("names").get<std::vector<std::string>>(), text("library")};
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace krl::compiled
