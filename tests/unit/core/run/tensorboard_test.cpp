#include "core/run/tensorboard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/scratch_folder.hpp"

namespace krl::core {
namespace {

using namespace std::string_literals;

// Decoded by hand after event.proto: wall_time = 1 (fixed64), step = 2, file_version = 3, summary =
// 5, session_log = 7.
TEST(TensorBoard, EncodesEventsAsProtocolBuffers) {
  EXPECT_EQ(encode_version_event(1.0),
            "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x1a\x0d"s + "brain.Event:2");
  EXPECT_EQ(encode_session_start(1.0, 300),
            "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x10\xac\x02\x3a\x02\x08\x01"s);
  EXPECT_EQ(encode_scalars({7, "x", 1.0, {{"ab", 0.5}}}),
            "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x10\x07\x2a\x0b\x0a\x09\x0a\x02"s + "ab" +
                "\x15\x00\x00\x00\x3f"s);
}

// The bytes are those of TensorBoard's own classes, which leave out a step of 0.
TEST(TensorBoard, EncodesWhatItsPluginsShow) {
  EXPECT_EQ(encode_text(1.0, 7, "plan", "a = 1"),
            "\x09\x00\x00\x00\x00\x00\x00\xf0?\x10\x07*#\x0a!\x0a\x04plan"s +
                "B\x0f\x08\x07\x12\x04\x12\x02\x08\x01"s + "B\x05" + "a = 1" +
                "J\x08\x0a\x06\x0a\x04text");
  const nlohmann::json settings = {{"run", {{"name", "x"}, {"list", nlohmann::json::array()}}}};
  EXPECT_EQ(encode_hyperparameters(1.0, settings),
            "\x09\x00\x00\x00\x00\x00\x00\xf0?\x10\x00*Q\x0aO\x0a\x1c"s +
                "_hparams_/session_start_info" + "B\x04\x08\x01\x12\x00J)\x0a'\x0a\x07"s +
                "hparams" + "\x12\x1c\x1a\x1a\x0a\x0f\x0a\x08run.name\x12\x03\x1a\x01x"s +
                ")\x00\x00\x00\x00\x00\x00\xf0?"s);
}

TEST(TensorBoard, ShowsThePlanAndTheAnswerWithTheHighestScore) {
  const test::ScratchFolder folder;
  auto writer = TensorBoardWriter::open(folder.path(), 0, "[run]\nseed = 3\n");
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->append(
      {1, "x", 2.0, {}}, {R"({"task":"dot","answer":"worse","score":0.25})", R"({"left_out":3})",
                          R"({"task":"dot","verdict":"ok","answer":"better","score":1.5})"}));
  const auto file = std::filesystem::directory_iterator(folder.path())->path();
  const std::string events = read_file(file).value_or("");
  EXPECT_THAT(events, ::testing::HasSubstr("    [run]\n    seed = 3\n"));
  EXPECT_THAT(events, ::testing::HasSubstr("run.seed"));
  EXPECT_THAT(events, ::testing::HasSubstr("dot: ok, score 1.5\n\n    better"));
  EXPECT_THAT(events, ::testing::Not(::testing::HasSubstr("worse")));
}

// The checksums were computed by TensorFlow's rule, ((crc >> 15) | (crc << 17)) + 0xa282ead8, in
// Python.
TEST(TensorBoard, FramesRecordsWithMaskedChecksums) {
  EXPECT_EQ(tfrecord_frame("123456789"), "\x09\x00\x00\x00\x00\x00\x00\x00\x37\xf9\x71\x39"s +
                                             "123456789" + "\xe5\xb0\x8a\xc7"s);
}

TEST(TensorBoard, StartsEveryFileWithTheStepFromWhichItCounts) {
  const test::ScratchFolder folder;
  for (const int last : {0, 20}) {
    auto writer = TensorBoardWriter::open(folder.path(), last);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->append({last + 1, "x", 2.0, {{"a", 1.0}}}));
  }
  int files = 0;
  std::string all;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_EQ(entry.path().filename().string().rfind("events.out.tfevents.", 0), 0u);
    all += *read_file(entry.path());
    ++files;
  }
  EXPECT_EQ(files, 2) << "an older file is never written to again";
  EXPECT_NE(all.find("\x10\x01\x3a\x02\x08\x01"), std::string::npos);
  EXPECT_NE(all.find("\x10\x15\x3a\x02\x08\x01"), std::string::npos);
}

}  // namespace
}  // namespace krl::core
