// The layout of the boundary, which plugins that were built earlier rely on.
#include <gtest/gtest.h>
#include <kernelrl/abi.h>

#include <set>
#include <string>

#include "tests/abi/abi_header.hpp"

#define KRL_HOW_TO_UPDATE \
  ": the layout of abi.h changed; if that is meant, change tests/abi/layout_v1_0.inc with it"

#define KRL_STRUCT(type, bytes) static_assert(sizeof(type) == bytes, #type KRL_HOW_TO_UPDATE);
#define KRL_FIELD(type, field, offset) \
  static_assert(offsetof(type, field) == offset, #type "." #field KRL_HOW_TO_UPDATE);
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
