// Plans for tests: texts in a folder of its own for each test, gone afterwards.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/plan/loader.hpp"
#include "tests/unit/core/plan/test_catalog.hpp"

namespace krl::core {

inline constexpr const char* kSmall = R"([policy]
use = "libtorch"
[backend]
use = "cpu"
[[dataset]]
use = "tasks"
path = "tasks"
[[dataset]]
use = "templates"
role = "warmup"
[[stage]]
name = "warm-up"
kind = "sft"
[[stage]]
name = "reinforce"
kind = "rl"
iterations = 3
[[reward]]
use = "correctness"
)";

class PlanLoading : public ::testing::Test {
 protected:
  PlanLoading() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("plan_" + std::string(test->name()) + "_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~PlanLoading() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  Result<Plan> load(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return load_file(write("plan.toml", text), overrides);
  }
  static Result<Plan> load_file(const std::filesystem::path& file,
                                const std::vector<std::string>& overrides = {}) {
    return load_plan(file, overrides, [](const auto&) { return test_catalog(); });
  }

  // The plan of a text that must be right.
  Plan plan(const std::string& text, const std::vector<std::string>& overrides = {}) {
    const auto loaded = load(text, overrides);
    if (!loaded) throw std::runtime_error(loaded.error().message);
    return *loaded;
  }

  // The errors of a text that must be wrong.
  std::string errors(const std::string& text, const std::vector<std::string>& overrides = {}) {
    const auto loaded = load(text, overrides);
    EXPECT_FALSE(loaded);
    if (loaded) return {};
    EXPECT_EQ(loaded.error().code, Code::kInvalidArgument);
    return loaded.error().message;
  }

  std::filesystem::path folder_;
};

}  // namespace krl::core
