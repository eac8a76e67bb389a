#include "plugins/backends/emulate/npy.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <kernelrl/values.hpp>

#include "plugins/files/file.hpp"
#include "tests/scratch_folder.hpp"

namespace krl::emulate {
using test::ScratchFolder;
namespace {

class Npy : public ::testing::Test {
 protected:
  std::string write(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    return path_;
  }
  // A file of version 1 with this header.
  std::string with_header(const std::string& header, const std::string& elements) const {
    const std::string size = {static_cast<char>(header.size() & 255),
                              static_cast<char>(header.size() >> 8)};
    return write("\x93NUMPY\x01" + std::string(1, '\0') + size + header + elements);
  }
  std::string refusal(const std::string& path) const {
    try {
      read_npy(path);
    } catch (const Failure& failure) {
      const std::string what = failure.what();
      return what.substr(what.find(": ") + 2);
    }
    return "";
  }

  ScratchFolder folder_;
  const std::string path_ = folder_.path() / "x.npy";
};

// As numpy.save writes numpy.arange(6, dtype=numpy.int16).reshape(2, 3).
TEST_F(Npy, IsWrittenAsNumPyDoes) {
  Array array{find_type("i16"), {2, 3}, std::vector<std::byte>(12)};
  for (short i = 0; i < 6; ++i) std::memcpy(array.bytes.data() + 2 * i, &i, 2);
  write_npy(path_, array);
  const std::string header = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }";
  const std::string file = files::read_file(path_);
  ASSERT_EQ(file.size(), 128u + 12);
  EXPECT_EQ(file.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(file.substr(10, header.size()), header);
  EXPECT_EQ(file[127], '\n');
  EXPECT_EQ(file.substr(128), std::string("\0\0\1\0\2\0\3\0\4\0\5\0", 12));
}

TEST_F(Npy, ComesBackAsItWas) {
  for (const char* type : {"f32", "f64", "f16", "bf16", "i8", "i64", "u8", "u32", "bool"}) {
    for (const std::vector<std::int64_t>& shape :
         {std::vector<std::int64_t>{4}, {2, 2}, {1, 4, 1}}) {
      Array array{find_type(type), shape, {}};
      for (unsigned i = 0; i < 4 * array.type->bytes; ++i)
        array.bytes.push_back(static_cast<std::byte>(i * 7));
      write_npy(path_, array);
      const Array back = read_npy(path_);
      EXPECT_EQ(back.type, array.type) << type;
      EXPECT_EQ(back.shape, shape);
      EXPECT_EQ(back.bytes, array.bytes);
    }
  }
}

TEST_F(Npy, ReadsLaterVersionsAndScalars) {
  const std::string header = "{'shape': (), 'fortran_order': False, 'descr': '<f4'}";
  write("\x93NUMPY\x02" + std::string(1, '\0') + static_cast<char>(header.size()) +
        std::string(3, '\0') + header + "abcd");
  const Array array = read_npy(path_);
  EXPECT_TRUE(array.shape.empty());
  EXPECT_EQ(array.bytes.size(), 4u);
}

TEST_F(Npy, WrongFilesAreRefusedByWhatIsWrong) {
  EXPECT_EQ(refusal(write("")), "this is no .npy file");
  EXPECT_EQ(refusal(write("PK\3\4 and more bytes")), "this is no .npy file");
  EXPECT_EQ(refusal(write(std::string("\x93NUMPY\x01\0\xff\xff{}", 12))), "the header is cut");
  const auto with = [&](const std::string& type, const std::string& order,
                        const std::string& shape) {
    return refusal(with_header(
        "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }",
        "12345678"));
  };
  EXPECT_EQ(with("<f4", "False", "(2,)"), "");
  EXPECT_EQ(with(">f4", "False", "(2,)"), "big-endian elements (>f4)");
  EXPECT_EQ(with("<c8", "False", "(1,)"), "elements of the type '<c8'");
  EXPECT_EQ(with("", "False", "(1,)"), "elements of the type ''");
  EXPECT_EQ(with("<f4", "True", "(2,)"), "column-major order; save numpy.ascontiguousarray(x)");
  EXPECT_EQ(with("<f4", "False", "(3,)"), "8 bytes of elements, of the shape 12");
  EXPECT_EQ(with("<f4", "False", "(99999999999999999999,)"), "the shape (99999999999999999999,)");
  EXPECT_EQ(with("<f4", "False", "(-2,)"), "the shape (-2,)");
  std::string axes;
  for (int i = 0; i < 30000; ++i) axes += "1, ";
  EXPECT_EQ(with("<f4", "False", "(" + axes.substr(0, 60000) + ")").substr(0, 12), "the shape (1");
  EXPECT_EQ(refusal(write("\x93NUMPY\x09 and more bytes")), "a version that is not known");
  EXPECT_EQ(with("<f4", "False", "(9000000000000000000, 9)"), "the shape is too large");
}

}  // namespace
}  // namespace krl::emulate
