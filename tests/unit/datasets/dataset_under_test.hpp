// A dataset through the C boundary of its built plugin.
#pragma once

#include <kernelrl/testing.hpp>
#include <string>
#include <utility>
#include <vector>

namespace krl::testing {

class DatasetUnderTest : public DatasetInstance {
 public:
  DatasetUnderTest(const std::string& name, Table options)
      : DatasetInstance(Plugin(KERNELRL_BINARY_DIR "/lib/kernelrl/plugins/" + name + ".krl.so")
                            .component(KRL_DATASET, name),
                        std::move(options)) {}

  // What it has logged.
  std::vector<std::string> messages() const {
    std::vector<std::string> texts;
    for (const auto& [level, text] : call().messages) texts.push_back(text);
    return texts;
  }
};

// What refusing the options says.
inline std::string refusal(const std::string& name, Table options) {
  try {
    const DatasetUnderTest dataset(name, std::move(options));
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

}  // namespace krl::testing
