#include "core/base/hash.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "tests/scratch_folder.hpp"

namespace krl::core {
namespace {

TEST(Sha256, GivesTheValuesOfFips180) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, OfAFileIsThatOfItsBytes) {
  const test::ScratchFolder folder;
  const std::string bytes(
      3'000'001, '\xa5');  // more than one block of reading, and not a whole number of them
  std::ofstream(folder / "file", std::ios::binary) << bytes;
  EXPECT_EQ(sha256_of_file(folder / "file"), sha256_hex(bytes));
}

TEST(Sha256, OfAMissingFileIsAnError) {
  const auto hash = sha256_of_file("/nowhere/file");
  ASSERT_FALSE(hash);
  EXPECT_EQ(hash.error().code, Code::kNotFound);
  EXPECT_EQ(hash.error().message, "cannot read /nowhere/file: no such file or directory");
}

// RFC 3720, appendix B.4.
TEST(Crc32c, GivesTheValuesOfRfc3720) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string rising;
  for (char byte = 0; byte < 32; ++byte) rising += byte;
  EXPECT_EQ(crc32c(rising), 0x46dd794eu);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
}

// Computed with Python: hashlib.sha256(struct.pack("<Q", seed) + parts), parts as in
// `append_seed_name`.
TEST(SeedFor, NeverChanges) {
  EXPECT_EQ(seed_for(17), 0x27da506b17a6e335u);
  EXPECT_EQ(seed_for(17, "sample", "softmax_rows", 3), 0xe4e8394c6fb973c4u);
  EXPECT_EQ(seed_for(0, -1), 0x8db2b43cf9f1d9e2u);
}

TEST(SeedFor, TellsPartsApart) {
  const std::set<std::uint64_t> seeds = {seed_for(1, "ab", "c"), seed_for(1, "a", "bc"),
                                         seed_for(1, "abc"),     seed_for(1, "a", 1),
                                         seed_for(1, "a", "1"),  seed_for(2, "abc")};
  EXPECT_EQ(seeds.size(), 6u);
}

TEST(SeedFor, DoesNotCareForTheWidthOfIntegers) {
  EXPECT_EQ(seed_for(1, std::int8_t{3}), seed_for(1, std::uint64_t{3}));
}

}  // namespace
}  // namespace krl::core
