// The client against a real daemon.
#include <nlohmann/json.hpp>

#include "tests/unit/backends/docker/docker_fixture.hpp"

namespace krl::docker::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class EngineTest : public DockerFixture {
 protected:
  static Patience patience() { return Patience::of(kTestPatience); }
};

TEST_F(EngineTest, KnowsTheDaemonAndItsImages) {
  EXPECT_THAT(engine_->version(), MatchesRegex(".+ \\(API 1\\.[0-9]+\\)"));
  EXPECT_THAT(engine_->image_id(kSmallImage, patience()).value_or(""), StartsWith("sha256:"));
  EXPECT_EQ(engine_->image_id("no-such-image", patience()), std::nullopt);
  try {
    engine_->import_image("broken", "no tar", patience());
    ADD_FAILURE() << "imported";
  } catch (const EngineFailure& failure) {
    EXPECT_THAT(failure.what(), AllOf(HasSubstr("importing the image broken"), HasSubstr("tar")));
  }
}

TEST_F(EngineTest, LeadsAContainerThroughItsLife) {
  const nlohmann::json specification = {
      {"Image", kSmallImage}, {"Cmd", {"/bin/sleep", "1000"}}, {"Labels", {{"test", "value"}}}};
  engine_->create("life", specification, patience());
  EXPECT_THROW(engine_->create("life", specification, patience()), EngineFailure);
  EXPECT_FALSE(engine_->running("life", patience()));
  engine_->start("life", patience());
  EXPECT_TRUE(engine_->running("life", patience()));
  const auto labelled = engine_->containers_with_label("test", patience());
  ASSERT_EQ(labelled.size(), 1u);
  EXPECT_EQ(labelled.front().labels.at("test"), "value");
  EXPECT_TRUE(engine_->containers_with_label("other", patience()).empty());

  const std::string exec =
      engine_->create_exec("life", {{"/bin/sh", "-c", "exit 9"}, {}, "0", "/"}, patience());
  EXPECT_EQ(engine_->exit_code(exec, patience()), std::nullopt);  // not started
  EXPECT_EQ(engine_->run_exec(exec, {}, {}, patience()).end, ExecOutput::kClosed);

  engine_->kill("life", patience());
  while (engine_->running("life", patience())) {
  }
  engine_->kill("life", patience());
  engine_->remove("life", patience());
  engine_->remove("life", patience());
  EXPECT_FALSE(engine_->running("life", patience()));
  EXPECT_THROW(engine_->start("life", patience()), EngineFailure);
  EXPECT_THROW(engine_->attach_input("life", patience()), EngineFailure);
}

}  // namespace
}  // namespace krl::docker::testing
