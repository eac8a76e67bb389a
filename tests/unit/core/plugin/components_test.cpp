#include "core/plugin/components.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace krl::core {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A policy that gives these options, each on a line of its own: path on line 2, model.heads on 3,
// loss on 4.
ComponentSettings given() {
  auto source = std::make_shared<Source>();
  source->name = "x.toml";
  source->text = "use = 'p'\npath = '/data/tasks'\nmodel.heads = 3\nloss = 'x'\n";
  const auto at = [&](std::uint32_t line) { return Origin{source, line, 1, 3}; };
  ComponentSettings settings;
  settings.use = "p";
  settings.origin = at(1);
  settings.options = {
      {"path", "/data/tasks"}, {"model", {{"heads", 3}, {"hidden", 64}}}, {"loss", "x"}};
  settings.option_origins = {{"path", at(2)}, {"model.heads", at(3)}, {"loss", at(4)}};
  return settings;
}

std::string placed(const std::string& why) {
  return at_component(given(), {Code::kNotFound, "policy 'p' (create): " + why}).message;
}

TEST(ComponentError, IsAtTheOptionThatThePluginNames) {
  EXPECT_THAT(placed("path: not a folder"), StartsWith("x.toml:2:"));
  EXPECT_THAT(placed("'loss' must be y"), StartsWith("x.toml:4:"));
  EXPECT_THAT(placed("choose another 'loss'"), StartsWith("x.toml:4:"));
  EXPECT_THAT(placed("a multiple of 2 * model.heads is wanted"), StartsWith("x.toml:3:"));
  EXPECT_THAT(placed("more than model.heads."), StartsWith("x.toml:3:"));
}

TEST(ComponentError, IsAtTheOptionThatGaveThePath) {
  EXPECT_THAT(placed("cannot read '/data/tasks/a.toml'"), StartsWith("x.toml:2:"));
}

TEST(ComponentError, IsAtTheComponentWhereNoOptionIsMeant) {
  EXPECT_THAT(placed("the path is too long"), StartsWith("x.toml:1:")) << "a word like any other";
  EXPECT_THAT(placed("model.heads_per_group is odd"), StartsWith("x.toml:1:"));
  EXPECT_THAT(placed("model.hidden is 64"), StartsWith("x.toml:1:")) << "a default";
}

TEST(ComponentError, KeepsItsCodeAndItsLines) {
  const Error error =
      at_component(given(), {Code::kNotFound, "policy 'p' (create): path: a.toml\nand b.toml"});
  EXPECT_EQ(error.code, Code::kNotFound);
  EXPECT_THAT(error.message, HasSubstr("path: a.toml\n  2 | path"));
  EXPECT_THAT(error.message, ::testing::EndsWith("\n  and b.toml\n"));
}

}  // namespace
}  // namespace krl::core
