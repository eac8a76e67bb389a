// The layout of the boundary, which plugins that were built earlier rely on.
#include <gtest/gtest.h>
#include <kernelrl/growth.hpp>

#include <set>
#include <string>

#include "tests/abi/abi_header.hpp"

#define KRL_FROZEN ": plugins of version 1.0 rely on its place; add members at the end of structs"

#define KRL_STRUCT(type, bytes) \
  static_assert(krl::kSizeAt10<type> == bytes, #type ": where it grew, specialise kSizeAt10");
#define KRL_FIELD(type, field, offset) \
  static_assert(offsetof(type, field) == offset, #type "." #field KRL_FROZEN);
#include "tests/abi/layout_v1_0.inc"
#undef KRL_STRUCT
#undef KRL_FIELD

namespace krl {
namespace {

std::set<std::string> rows() {
  return {
#define KRL_STRUCT(type, bytes) #type,
#define KRL_FIELD(type, field, offset) #type "." #field,
#include "tests/abi/layout_v1_0.inc"
  };
}

TEST(Layout, TheTableHoldsEveryStructAndField) {
  std::set<std::string> missing, surplus = rows();
  const auto meet = [&](const std::string& row) {
    if (surplus.erase(row) == 0) missing.insert(row);
  };
  for (const AbiStruct& s : abi_structs()) {
    meet(s.name);
    for (const AbiField& field : s.fields) meet(s.name + "." + field.name);
  }
  for (const std::string& row : missing)
    ADD_FAILURE() << row << " is not in tests/abi/layout_v1_0.inc: add a row";
  for (const std::string& row : surplus)
    ADD_FAILURE() << row << " of tests/abi/layout_v1_0.inc is not in abi.h";
}

}  // namespace
}  // namespace krl
