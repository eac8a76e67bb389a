#include "core/run/metrics.hpp"

#include <gtest/gtest.h>

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
