// What goes into a compile in the container and what is read of its output, without a container.
#include "plugins/backends/docker/compile_script.hpp"

#include <gtest/gtest.h>

namespace krl::docker {
namespace {

std::string output_with(const std::string& names) {
  const std::string sizes = "3\n4\n0\n" + std::to_string(names.size()) + "\n";
  return sizes + "ELF" + "ptx\n" + names;
}

const std::string kNames =
    ".global .align 8 .u64 kernelrl_kernel_1 = _Z5plainPf;\n"
    ".global .align 8 .u64 kernelrl_kernel_0 = _Z3addIfLi4EEvPKT_PS0_i;\n";

TEST(KernelReferences, StandBehindTheSourceOnLinesOfTheirOwn) {
  EXPECT_EQ(with_kernel_references("// no newline", {"add<float, 4>", "plain"}),
            "// no newline\n#line 1 \"launches\"\n"
            "extern \"C\" __device__ const void* kernelrl_kernel_0 = (const void*)&add<float, 4>;\n"
            "extern \"C\" __device__ const void* kernelrl_kernel_1 = (const void*)&plain;\n");
}

TEST(ReadModule, GivesThePartsAndTheNamesInTheirOrder) {
  const auto module = read_module(output_with(kNames), 2);
  ASSERT_TRUE(module);
  EXPECT_EQ(module->cubin, "ELF");
  EXPECT_EQ(module->ptx, "ptx\n");
  EXPECT_EQ(module->report, "");
  EXPECT_EQ(module->names, (std::vector<std::string>{"_Z3addIfLi4EEvPKT_PS0_i", "_Z5plainPf"}));
  EXPECT_TRUE(read_module(output_with(""), 0));
}

TEST(ReadModule, GivesThePartsOfALibrary) {
  const std::string output = "3\n4\n2\nELFptx\nso";
  const auto module = read_library(output);
  ASSERT_TRUE(module);
  EXPECT_EQ(module->cubin, "ELF");
  EXPECT_EQ(module->ptx, "ptx\n");
  EXPECT_EQ(module->library, "so");
  for (std::size_t n = 0; n < output.size(); ++n) EXPECT_FALSE(read_library(output.substr(0, n)));
  EXPECT_FALSE(read_library(output + "x"));
}

TEST(ReadModule, RefusesWhatIsNone) {
  const std::string good = output_with(kNames);
  for (std::size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(read_module(good.substr(0, n), 2));
  EXPECT_FALSE(read_module(good + "x", 2));
  EXPECT_FALSE(read_module(good, 1));  // a name that nobody asked for
  EXPECT_FALSE(read_module(good, 3));  // and one that is missing
  EXPECT_FALSE(read_module("-1\n1\n1\n1\n", 0));
  EXPECT_FALSE(read_module("99999999999999999999\n1\n1\n1\n", 0));
  EXPECT_FALSE(read_module(output_with("kernelrl_kernel_0 is mine\n"), 1));
}

}  // namespace
}  // namespace krl::docker
