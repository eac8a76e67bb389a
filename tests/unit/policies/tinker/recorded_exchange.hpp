// The recordings of a real client and server (recordings/README.md), for tests.
#pragma once

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
};

inline std::vector<RecordedExchange> recorded_exchanges(const std::string& file) {
  std::ifstream in(std::string(KERNELRL_SOURCE_DIR "/tests/unit/policies/tinker/recordings/") +
                   file);
  if (!in) throw std::runtime_error("no recording " + file);
  std::vector<RecordedExchange> all;
  for (std::string line; std::getline(in, line);) {
    const auto json = nlohmann::json::parse(line);
    all.push_back({file + ":" + std::to_string(all.size() + 1), json["path"], json["req"],
                   json["resp"], json["status"]});
  }
  return all;
}

}  // namespace krl::tinker::testing
