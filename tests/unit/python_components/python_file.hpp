// The plugin `python` with one of the files beside this header.
#pragma once

#include <kernelrl/testing.hpp>
#include <string>

namespace krl::testing {

inline Plugin python_plugin() {
  return Plugin(KERNELRL_BINARY_DIR "/lib/kernelrl/plugins/python.krl.so");
}

// The options of a component in files/`file`; `options`: a JSON object.
inline Table python_file(const std::string& file, const std::string& name = {},
                         const std::string& options = "{}") {
  return {{"file", KERNELRL_SOURCE_DIR "/tests/unit/python_components/files/" + file},
          {"object", name},
          {"executable", ""},
          {"options", Value::json(options)}};
}

}  // namespace krl::testing
