// The rules of abi.h that a compiler does not check.
#include <gtest/gtest.h>

#include <set>

#include "tests/abi/abi_header.hpp"

namespace krl {
namespace {

const std::set<std::string> kValueTypes{"krl_str", "krl_i32s", "krl_f32s", "krl_f64s"};

TEST(AbiLint, FindsTheStructs) {
  const std::vector<AbiStruct> structs = abi_structs();
  ASSERT_GT(structs.size(), 30u);
  EXPECT_EQ(structs.front().name, "krl_str");
  EXPECT_EQ(structs.back().name, "krl_plugin");
  EXPECT_EQ(structs.back().fields.front().name, "struct_size");
  EXPECT_EQ(structs.back().fields.back().name, "n_components");
}

TEST(AbiLint, EveryStructBeginsWithItsSize) {
  for (const AbiStruct& s : abi_structs()) {
    if (kValueTypes.count(s.name) != 0) continue;
    EXPECT_EQ(s.fields.front().declaration, "uint32_t struct_size") << s.name;
  }
}

// The width of bool, enum, int and long is the compiler's choice.
TEST(AbiLint, EveryTypeHasOneWidth) {
  const std::string code = abi_header_code();
  const std::regex vague(
      "\\b(bool|_Bool|enum|union|int|long|short|unsigned|signed|wchar_t|intptr_t|uintptr_t)\\b");
  for (std::sregex_iterator at(code.begin(), code.end(), vague), end; at != end; ++at)
    ADD_FAILURE() << "'" << at->str() << "' in: "
                  << code.substr(
                         static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, at->position() - 40)),
                         80);
}

TEST(AbiLint, NoBitFieldsAndNoInlineArrays) {
  for (const AbiStruct& s : abi_structs()) {
    for (const AbiField& field : s.fields) {
      if (field.is_function) continue;
      EXPECT_EQ(field.declaration.find_first_of(":[]"), std::string::npos)
          << s.name << ": " << field.declaration;
    }
  }
}

// An array of structs that may grow is an array of pointers; its length stands beside it as n_NAME.
TEST(AbiLint, ArraysOfStructsAreArraysOfPointers) {
  for (const AbiStruct& s : abi_structs()) {
    std::set<std::string> names;
    for (const AbiField& field : s.fields) names.insert(field.name);
    for (const AbiField& field : s.fields) {
      if (field.is_function || names.count("n_" + field.name) == 0) continue;
      const bool of_values = field.declaration.rfind("const krl_str* ", 0) == 0;
      EXPECT_TRUE(of_values || field.declaration.find("* const* ") != std::string::npos)
          << s.name << ": " << field.declaration;
    }
  }
}

TEST(AbiLint, ArraysAmongParametersAreArraysOfPointers) {
  const std::regex by_value("const krl_(\\w+)\\* ?(\\w+)?, size_t n\\b");
  for (const AbiStruct& s : abi_structs()) {
    for (const AbiField& field : s.fields) {
      std::smatch match;
      if (!field.is_function || !std::regex_search(field.declaration, match, by_value)) continue;
      EXPECT_EQ(match[1], "str") << s.name << ": " << field.declaration;
    }
  }
}

// A function's tag says on which thread it may be called: "[call]", in the comment above it.
TEST(AbiLint, FunctionsCarryAThreadTag) {
  const std::string text = read_text(KERNELRL_SOURCE_DIR "/sdk/include/kernelrl/abi.h");
  const std::regex definition("typedef struct (krl_\\w+) \\{([^}]*)\\}");
  for (std::sregex_iterator at(text.begin(), text.end(), definition), end; at != end; ++at) {
    const std::string body = (*at)[2];
    if (body.find("(*") == std::string::npos) continue;
    EXPECT_TRUE(std::regex_search(body, std::regex("\\[(main|call|sink|any)\\]"))) << (*at)[1];
  }
}

}  // namespace
}  // namespace krl
