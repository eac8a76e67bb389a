// Every wrong plan of errors/ gives exactly the text of its .expect file. A line "# --set
// KEY=VALUE" at the top of a plan is an argument. With KERNELRL_UPDATE_EXPECTED=1 the files are
// rewritten, to be read before they are committed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/plan/built_in.hpp"
#include "core/plan/loader.hpp"
#include "tests/unit/core/plan/test_catalog.hpp"

namespace krl::core {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::vector<std::string> arguments_of(const fs::path& file) {
  constexpr std::string_view kMark = "# --set ";
  std::vector<std::string> arguments;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line) && line.starts_with(kMark);) {
    arguments.push_back(line.substr(kMark.size()));
  }
  return arguments;
}

// Absolute paths depend on where the checkout and the build lie.
std::string without_folders(std::string text) {
  for (const auto& [folder, name] : {std::pair(built_in_configs().string(), "<built in>"),
                                     {KERNELRL_SOURCE_DIR, "<checkout>"}}) {
    for (std::size_t at; (at = text.find(folder)) != std::string::npos;)
      text.replace(at, folder.size(), name);
  }
  return text;
}

class PlanErrors : public ::testing::TestWithParam<std::string> {};

TEST_P(PlanErrors, AreListedInFull) {
  fs::current_path(KERNELRL_SOURCE_DIR "/tests/plans/errors");
  const fs::path file = GetParam() + ".toml", expected = GetParam() + ".expect";
  const auto plan = load_plan(file, arguments_of(file), [](const auto&) { return test_catalog(); });
  const std::string shown = plan ? "no errors\n" : without_folders(plan.error().message);
  if (std::getenv("KERNELRL_UPDATE_EXPECTED") != nullptr) std::ofstream(expected) << shown;
  EXPECT_EQ(shown, text_of(expected));
}

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(KERNELRL_SOURCE_DIR "/tests/plans/errors")) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Plans, PlanErrors, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace krl::core
