// Plugins in C and C++, by several compilers, string ABIs and runtimes, side by side in one
// process.
#include <gtest/gtest.h>
#include <kernelrl/testing.hpp>

#include <filesystem>

namespace krl {
namespace {

namespace fs = std::filesystem;
using testing::Plugin;
using testing::TurnBuilder;

const fs::path kFolder = KERNELRL_BINARY_DIR "/tests/plugins/toolchains";

TEST(Toolchains, PlainC) {
  const Plugin plugin(kFolder / "plain_c.krl.so");
  EXPECT_EQ(plugin.reward("test.plain_c").score(TurnBuilder().answer("four")), 4);
  EXPECT_EQ(plugin.reward("test.plain_c", {{"each", 0.5}}).score(TurnBuilder().answer("four")), 2);
  EXPECT_THROW(plugin.reward("test.plain_c", {{"each", -1.0}}), std::runtime_error);
}

// Texts, a container, an exception thrown and caught inside, and one that leaves as an error.
void check(const std::string& toolchain) {
  SCOPED_TRACE(toolchain);
  const Plugin plugin(kFolder / (toolchain + ".krl.so"));
  const std::string id = "test." + toolchain;
  EXPECT_EQ(plugin.reward(id).score(TurnBuilder().answer("any")), 5);
  const auto term = plugin.reward(id, {{"word", "a word beyond the small-string limit"}});
  EXPECT_EQ(term.score(TurnBuilder().answer("any")), 18);
  EXPECT_EQ(term.score(TurnBuilder()), -18);
  try {
    term.score(TurnBuilder().answer("fail"));
    ADD_FAILURE() << "no failure";
  } catch (const Failure& e) {
    EXPECT_EQ(e.code(), KRL_UNAVAILABLE);
    EXPECT_STREQ(e.what(), "asked to fail by a word beyond the small-string limit");
  }
}

TEST(Toolchains, EachWorksBesideTheOthers) {
  for (const char* toolchain : {"gxx", "old_string_abi", "static_runtime"}) check(toolchain);
}

TEST(Toolchains, ClangWithItsOwnRuntime) {
  if (!fs::exists(kFolder / "clang.krl.so")) GTEST_SKIP() << "skipped: no clang++";
  check("clang");
}

}  // namespace
}  // namespace krl
