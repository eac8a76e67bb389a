// Tasks altered in one place, for tests of what the checks of a task refuse, and at which line.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace krl::testing {

// The task, as if from a file t.toml whose lines tell its keys apart.
inline nlohmann::json with_origin(nlohmann::json task) {
  task["origin"] = {{"file", "t.toml"},
                    {"positions",
                     {{"reference", {10, 1}},
                      {"naive", {20, 1}},
                      {"tolerance", {30, 13}},
                      {"ranges", {40, 13}},
                      {"cases[0]", {50, 14}},
                      {"cases[1]", {50, 28}},
                      {"real[0]", {60, 14}},
                      {"holdout[0]", {70, 14}}}}};
  return task;
}

inline nlohmann::json with(nlohmann::json task, const std::string& key, nlohmann::json value) {
  task[key] = std::move(value);
  return task;
}

// With the reference `run(arguments)` that returns the text, and without a naive kernel, which
// would be wrong.
inline nlohmann::json returning(const nlohmann::json& task, const std::string& arguments,
                                const std::string& text) {
  nlohmann::json altered =
      with(task, "reference", "def run(" + arguments + "):\n    return " + text + "\n");
  altered.erase("naive");
  return altered;
}

// The same with another output `z` of n elements.
inline nlohmann::json returning_two(const nlohmann::json& task, const std::string& arguments,
                                    const std::string& text, const std::string& dtype) {
  nlohmann::json altered = returning(task, arguments, text);
  altered["output"].push_back({{"name", "z"}, {"dtype", dtype}, {"shape", {"n"}}});
  return altered;
}

}  // namespace krl::testing
