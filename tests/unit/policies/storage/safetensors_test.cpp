#include "plugins/policies/storage/safetensors.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <kernelrl/values.hpp>

#include "plugins/files/file.hpp"
#include "tests/unit/policies/temporary_directory.hpp"

namespace krl::policies {
namespace {

class SafetensorsTest : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return directory_.path() / "x.safetensors"; }

  // Writes a file with this header and `bytes` bytes of data; returns why it is refused.
  std::string refusal(const std::string& header, std::size_t bytes) {
    std::uint64_t size = header.size();
    std::string length(8, '\0');
    std::memcpy(length.data(), &size, 8);
    return refusal_of_file(length + header + std::string(bytes, '\0'));
  }
  std::string refusal_of_file(const std::string& contents) {
    files::write_file(path(), {contents});
    try {
      Safetensors::read(path());
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
      EXPECT_NE(std::string(failure.what()).find("x.safetensors"), std::string::npos);
      return failure.what();
    }
    return "accepted";
  }

  test::TemporaryDirectory directory_;
};

TEST_F(SafetensorsTest, TensorsComeBack) {
  const float a[] = {1, 2, 3, 4, 5, 6};
  const double b[] = {0.25};
  write_safetensors(path(),
                    {{"a", {"F32", {2, 3}, {reinterpret_cast<const char*>(a), sizeof a}}},
                     {"b", {"F64", {}, {reinterpret_cast<const char*>(b), sizeof b}}},
                     {"none", {"F32", {0, 4}, {}}}},
                    {{"format", "pt"}});
  const Safetensors file = Safetensors::read(path());
  EXPECT_EQ(file.tensors().size(), 3u);
  const TensorView& view = file.get("a", "F32", {2, 3});
  EXPECT_EQ(std::memcmp(view.bytes.data(), a, sizeof a), 0);
  EXPECT_EQ(file.get("b", "F64", {}).bytes.size(), 8u);
  EXPECT_THROW(file.get("a", "F32", {3, 2}), Failure);
  EXPECT_THROW(file.get("a", "F64", {2, 3}), Failure);
  EXPECT_THROW(file.get("c", "F32", {1}), Failure);
}

TEST_F(SafetensorsTest, MissingFileIsNotFound) {
  try {
    Safetensors::read(path());
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_NOT_FOUND);
  }
}

TEST_F(SafetensorsTest, HostileFilesAreRefused) {
  EXPECT_NE(refusal_of_file("abc").find("too short"), std::string::npos);
  EXPECT_NE(refusal_of_file(std::string(8, '\xFF') + "{}").find("length"), std::string::npos);
  EXPECT_NE(refusal("not json", 0).find("JSON"), std::string::npos);
  const auto tensor = [](const char* dtype, const char* shape, const char* offsets) {
    return std::string("{\"t\":{\"dtype\":\"") + dtype + "\",\"shape\":" + shape +
           ",\"data_offsets\":" + offsets + "}}";
  };
  EXPECT_NE(refusal(tensor("F32", "[2]", "[0,8]"), 4).find("outside"), std::string::npos);
  EXPECT_NE(refusal(tensor("F32", "[2]", "[8,0]"), 8).find("outside"), std::string::npos);
  EXPECT_NE(refusal(tensor("F32", "[3]", "[0,8]"), 8).find("does not take"), std::string::npos);
  EXPECT_NE(refusal(tensor("Q4", "[2]", "[0,8]"), 8).find("Q4"), std::string::npos);
  EXPECT_NE(refusal(tensor("F32", "[-2]", "[0,8]"), 8).find("natural"), std::string::npos);
  EXPECT_NE(refusal(tensor("F32", "[2]", "[-8,0]"), 8).find("natural"), std::string::npos);
  EXPECT_NE(refusal(tensor("F32", "[4611686018427387904,4]", "[0,0]"), 0).find("does not take"),
            std::string::npos);
  EXPECT_NE(refusal(tensor("F32", "{}", "[0]"), 0).find("t"), std::string::npos);
  EXPECT_NE(refusal("{\"t\":7}", 0).find("missing or of the wrong kind"), std::string::npos);
  EXPECT_NE(refusal(tensor("F32", "[1]", "[0,4]"), 8).find("follow"), std::string::npos);
  const std::string one = "{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}";
  EXPECT_NE(refusal("{\"a\":" + one + ",\"b\":" + one + "}", 4).find("overlap"), std::string::npos);
}

}  // namespace
}  // namespace krl::policies
