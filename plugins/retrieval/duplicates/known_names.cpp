#include "plugins/retrieval/duplicates/known_names.hpp"

#include <unordered_set>

namespace krl::retrieval {
namespace {

using Names = std::unordered_set<std::string_view>;

const Names& keyword_types() {
  static const Names names = {"void",     "bool",   "char",  "short",  "int", "long",
                              "unsigned", "signed", "float", "double", "auto"};
  return names;
}

const Names& library_types() {
  static const Names names = {
      "half",         "half2",       "size_t",   "int8_t",   "int16_t",   "int32_t",  "int64_t",
      "uint8_t",      "uint16_t",    "uint32_t", "uint64_t", "ptrdiff_t", "bfloat16", "nv_bfloat16",
      "nv_bfloat162", "char2",       "char4",    "uchar2",   "uchar4",    "short2",   "short4",
      "int2",         "int3",        "int4",     "uint2",    "uint3",     "uint4",    "float2",
      "float3",       "float4",      "double2",  "double4",  "longlong2", "dim3",     "uint",
      "ulong",        "cudaStream_t"};
  return names;
}

const Names& cuda_keywords() {
  static const Names names = {
      "if",         "else",      "for",       "while",    "do",          "switch",
      "case",       "default",   "break",     "continue", "return",      "goto",
      "struct",     "class",     "union",     "enum",     "typedef",     "using",
      "namespace",  "template",  "typename",  "operator", "sizeof",      "volatile",
      "public",     "private",   "protected", "this",     "new",         "delete",
      "true",       "false",     "nullptr",   "throw",    "static_cast", "reinterpret_cast",
      "const_cast", "asm",       "define",    "ifdef",    "ifndef",      "endif",
      "undef",      "threadIdx", "blockIdx",  "blockDim", "gridDim",     "warpSize"};
  return names;
}

const Names& python_keywords() {
  static const Names names = {
      "if",      "elif",   "else", "for",   "while", "break",  "continue", "return", "def",
      "class",   "lambda", "and",  "or",    "not",   "in",     "is",       "try",    "except",
      "finally", "raise",  "with", "as",    "yield", "assert", "pass",     "global", "nonlocal",
      "del",     "None",   "True", "False", "self",  "super",  "async",    "await"};
  return names;
}

}  // namespace

bool is_type(std::string_view name) {
  return keyword_types().contains(name) || is_library_type(name);
}

bool is_library_type(std::string_view name) { return library_types().contains(name); }

bool is_known_name(std::string_view name, bool python) {
  if (name.starts_with("__")) return true;
  if (python) return python_keywords().contains(name);
  return is_type(name) || cuda_keywords().contains(name);
}

bool is_component(std::string_view name) {
  return name == "x" || name == "y" || name == "z" || name == "w";
}

bool is_qualifier(std::string_view name) {
  static const Names names = {"const",           "constexpr",   "static",       "inline",
                              "__forceinline__", "__inline__",  "__noinline__", "restrict",
                              "__restrict",      "__restrict__"};
  return names.contains(name);
}

bool precedes_expression(std::string_view name, bool python) {
  static const Names cuda = {"return", "else",   "case", "goto",  "throw",
                             "new",    "delete", "do",   "sizeof"};
  static const Names expressions = {"return", "and",  "or",    "not",   "in",     "is",
                                    "if",     "elif", "else",  "while", "assert", "yield",
                                    "await",  "del",  "raise", "with",  "lambda"};
  return (python ? expressions : cuda).contains(name);
}

}  // namespace krl::retrieval
