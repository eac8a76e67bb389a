#include "plugins/backends/emulate/buffers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <kernelrl/values.hpp>
#include <limits>

#include "tests/scratch_folder.hpp"

namespace krl::emulate {
using test::ScratchFolder;
namespace {

double element(const Buffer& buffer, std::int64_t index) {
  const ElementType& type = *buffer.contents.type;
  return number_of(type, buffer.contents.bytes.data() + index * type.bytes);
}

std::string refusal(const std::string& text) {
  try {
    read_buffer(text, {{"n", 4}}, 0);
  } catch (const Failure& failure) {
    const std::string what = failure.what();
    return what.substr(std::min(what.size(), what.find(text + ": ") + text.size() + 2));
  }
  return "";
}

TEST(Buffers, HaveANameATypeAndSizes) {
  const Buffer x = read_buffer("x=f32[n, 2 * n]", {{"n", 4}}, 0);
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.contents.type->name, "float32");
  EXPECT_EQ(x.contents.shape, (std::vector<std::int64_t>{4, 8}));
  EXPECT_EQ(x.bytes(), 128u);
  EXPECT_FALSE(x.is_set());
  EXPECT_EQ(read_buffer("x=int64[max(n, 9)]", {{"n", 4}}, 0).bytes(), 72u);
}

TEST(Buffers, HoldWhatIsAskedFor) {
  EXPECT_EQ(element(read_buffer("x=i32[9]:arange", {}, 0), 7), 7);
  EXPECT_EQ(element(read_buffer("x=f16[9]:ones", {}, 0), 8), 1);
  EXPECT_EQ(element(read_buffer("x=f64[9]:-2.5", {}, 0), 8), -2.5);
  EXPECT_EQ(element(read_buffer("x=u8[9]:zeros", {}, 0), 8), 0);
  double sum = 0, squares = 0;
  const Buffer normal = read_buffer("x=f32[20000]:normal(3, 2)", {}, 1);
  for (int i = 0; i < 20000; ++i) {
    sum += element(normal, i);
    squares += std::pow(element(normal, i) - 3, 2);
  }
  EXPECT_NEAR(sum / 20000, 3, 0.08);
  EXPECT_NEAR(squares / 20000, 4, 0.2);
  const Buffer integers = read_buffer("x=i32[20000]:integers(-2, 3)", {}, 1);
  int counts[5] = {};
  for (int i = 0; i < 20000; ++i) {
    const auto value = static_cast<int>(element(integers, i));
    ASSERT_TRUE(value >= -2 && value < 3) << value;
    ++counts[value + 2];
  }
  for (const int count : counts) EXPECT_NEAR(count, 4000, 300);
}

TEST(Buffers, FollowFromTheSeedAndTheirName) {
  const auto first = [](const char* text, std::uint64_t seed) {
    return element(read_buffer(text, {}, seed), 0);
  };
  EXPECT_EQ(first("x=f32[4]:uniform", 1), first("x=f32[4]:uniform", 1));
  EXPECT_NE(first("x=f32[4]:uniform", 1), first("x=f32[4]:uniform", 2));
  EXPECT_NE(first("x=f32[4]:uniform", 1), first("y=f32[4]:uniform", 1));
}

TEST(Buffers, MayComeFromAFile) {
  const ScratchFolder folder;
  const std::string path = folder.path() / "x.npy";
  write_npy(path, {find_type("u16"), {2, 2}, std::vector<std::byte>(8, std::byte{0x3f})});
  EXPECT_EQ(read_buffer("x=" + path, {}, 0).contents.shape, (std::vector<std::int64_t>{2, 2}));
  const Buffer as_bfloat16 = read_buffer("x=bf16[4]:" + path, {}, 0);
  EXPECT_FLOAT_EQ(static_cast<float>(element(as_bfloat16, 0)), 0.7460938f);
  EXPECT_EQ(refusal("x=f32[4]:" + path), "the file has 8 bytes, the buffer 16");
}

TEST(Buffers, AreRefusedWithAReason) {
  for (const char* text :
       {"x", "=f32[4]", "3x=f32[4]", "x y=f32[4]", "x=f32", "x=f32]4[", "x=f32[4]ones"})
    EXPECT_NE(refusal(text).find("expected NAME=TYPE[SIZES]"), std::string::npos) << text;
  EXPECT_NE(refusal("x=f33[4]").find("'f33' is none of f32"), std::string::npos);
  EXPECT_EQ(refusal("x=f32[0]"), "the size '0' is 0");
  EXPECT_EQ(refusal("x=f32[m]"), "the size 'm': unknown name 'm'; known: n");
  EXPECT_EQ(refusal("x=f32[99999999999]"), "more than 256 MiB");
  EXPECT_EQ(refusal("x=f32[4000000000, 4000000000, 4000000000]"), "more than 256 MiB");
  EXPECT_EQ(refusal("x=f32[4]:uniform(1)"), "uniform takes two numbers, or none");
  EXPECT_EQ(refusal("x=f32[4]:uniform(1, b)"), "'b' is not a number");
  EXPECT_NE(refusal("x=f32[4]:random").find("'random' is none of"), std::string::npos);
}

TEST(Values, AreIntegersUnlessTheyHaveAPoint) {
  EXPECT_EQ(read_value("n=-3").integer, -3);
  EXPECT_FALSE(is_floating(read_value("n=1024").dtype));
  EXPECT_TRUE(is_floating(read_value("a=2.0").dtype));
  EXPECT_EQ(read_value("a=1e-3").real, 1e-3);
  EXPECT_THROW(read_value("n=many"), Failure);
  EXPECT_THROW(read_value("n="), Failure);
  EXPECT_THROW(read_value("4=4"), Failure);
}

TEST(Elements, AreRoundedIntoTheirType) {
  const auto stored = [](const char* name, double number) {
    const ElementType& type = *find_type(name);
    std::byte bytes[8] = {};
    store(type, number, bytes);
    return text_of(type, bytes);
  };
  EXPECT_EQ(stored("i8", 200), "127");
  EXPECT_EQ(stored("i8", -200), "-128");
  EXPECT_EQ(stored("i64", 1e30), std::to_string(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(stored("u16", -5), "0");
  EXPECT_EQ(stored("u64", 1e30), std::to_string(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_EQ(stored("bool", 0.5), "true");
  EXPECT_EQ(stored("f16", 1e9), "inf");
  EXPECT_EQ(stored("bf16", 1.0 / 3), "0.333984");
}

}  // namespace
}  // namespace krl::emulate
