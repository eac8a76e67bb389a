// The values that CUDA compilers hand back, read from bytes that may be damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/compiled/cubin.hpp"
#include "plugins/backends/compiled/kernel_references.hpp"
#include "plugins/files/file.hpp"

namespace krl::compiled {
namespace {

using ::testing::ElementsAre;

TEST(Cubin, DamagedBytesAreNoTrouble) {
  std::string why;
  EXPECT_FALSE(read_cubin("", why));
  EXPECT_FALSE(
      read_cubin("no ELF file at all, but long enough for the header of one: 64 bytes", why));
  EXPECT_FALSE(read_cubin(files::read_file_or_empty("/proc/self/exe"), why));
  EXPECT_EQ(why, "the module is not GPU code");
  EXPECT_TRUE(has_variables(""));  // for all that is known
}

TEST(CompiledModuleBytes, IsReadBackAndNothingElseIs) {
  const CompiledModule module{std::string("\x7f"
                                          "ELF\0\xff",
                                          6),
                              "// ptx",
                              "report \xff",
                              {"_Z1kv"}};
  const std::string bytes = to_bytes(module);
  const auto read = module_from_bytes(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->cubin, module.cubin);
  EXPECT_EQ(read->ptx, module.ptx);
  EXPECT_EQ(read->report, module.report);
  EXPECT_THAT(read->names, ElementsAre("_Z1kv"));
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(module_from_bytes(std::string_view(bytes).substr(0, n))) << n;
  }
  EXPECT_FALSE(module_from_bytes("something else"));
}

TEST(KernelReferences, AreFoundAndTakenOut) {
  const DereferencedPtx taken = take_kernel_references(
      ".version 9.0\n"
      ".visible .global .align 8 .u64 kernelrl_kernel_1 = _Z1bPf;\n"
      ".global .align 8 .u64 kernelrl_kernel_0 = _Z1aIfEvPf;\n"
      ".visible .entry _Z1aIfEvPf()\n",
      3);
  EXPECT_EQ(taken.ptx, ".version 9.0\n.visible .entry _Z1aIfEvPf()\n");
  EXPECT_THAT(taken.names, ElementsAre("_Z1aIfEvPf", "_Z1bPf", ""));
}

TEST(KernelReferences, OtherLinesStay) {
  const std::string ptx =
      "kernelrl_kernel_0 = x;\n"
      ".global .u64 kernelrl_kernel_\n"
      ".global .u64 kernelrl_kernel_7 = x;\n"
      ".global .u64 kernelrl_kernel_99999999999999999999999 = x;\n"
      ".global .u64 kernelrl_kernel_0\n";
  const DereferencedPtx taken = take_kernel_references(ptx, 2);
  EXPECT_EQ(taken.ptx, ptx);
  EXPECT_THAT(taken.names, ElementsAre("", ""));
}

}  // namespace
}  // namespace krl::compiled
