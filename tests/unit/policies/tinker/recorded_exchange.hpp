// The recordings of a real client and server (recordings/README.md), for tests.
#pragma once

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace krl::tinker::testing {

struct RecordedExchange {
  std::string where;  // "json_client_0.24.jsonl:5"
  std::string path, request, answer;
  int status = 0;
  bool request_is_protobuf = false, answer_is_protobuf = false;
};

inline std::string from_base64(const std::string& text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int n = 0;
  for (const char c : text) {
    if (c == '=') break;
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bits = bits << 6 | static_cast<std::uint32_t>(digits.find(c));
    n += 6;
    if (n >= 8) bytes += static_cast<char>(bits >> (n -= 8) & 0xff);
  }
  return bytes;
}

inline std::vector<RecordedExchange> recorded_exchanges(const std::string& file) {
  std::ifstream in(std::string(KERNELRL_SOURCE_DIR "/tests/unit/policies/tinker/recordings/") +
                   file);
  if (!in) throw std::runtime_error("no recording " + file);
  std::vector<RecordedExchange> all;
  for (std::string line; std::getline(in, line);) {
    const auto json = nlohmann::json::parse(line);
    const auto text = [&](const char* key) {
      return json[key].is_string() ? json[key].get<std::string>() : from_base64(json[key]["b64"]);
    };
    all.push_back({file + ":" + std::to_string(all.size() + 1), json["path"], text("req"),
                   text("resp"), json["status"], json["req"].is_object(),
                   json["resp"].is_object()});
  }
  return all;
}

}  // namespace krl::tinker::testing
