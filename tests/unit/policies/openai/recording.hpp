// Exchanges with real servers (recordings/, one a file; those of SGLang are written by hand).
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace krl::openai::testing {

struct Recording {
  nlohmann::json body;  // of the request; null if it had none
  unsigned status = 0;
  nlohmann::json answer;  // null if it is no JSON
  std::string text;       // what is no JSON: events, mostly
};

// `name` is "vllm/completion".
inline Recording recording(const std::string& name) {
  std::ifstream in(std::string(KERNELRL_SOURCE_DIR "/tests/unit/policies/openai/recordings/") +
                   name + ".json");
  if (!in) throw std::runtime_error("no recording " + name);
  const auto json = nlohmann::json::parse(in);
  return {json["request"].value("body", nlohmann::json()), json["status"],
          json.value("answer", nlohmann::json()), json.value("answer_text", "")};
}

}  // namespace krl::openai::testing
