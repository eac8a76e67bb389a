// Calls: the wrong one of two functions that are alike, or none.
#include "service/mutation/change.hpp"

namespace krl::service {
namespace {

constexpr Swap kFunctions[] = {{"minimum_for_maximum", "fmaxf", "fminf"},
                               {"minimum_for_maximum", "fminf", "fmaxf"},
                               {"minimum_for_maximum", "max", "min"},
                               {"minimum_for_maximum", "min", "max"},
                               {"minimum_for_maximum", "__hmax", "__hmin"},
                               {"minimum_for_maximum", "atomicMax", "atomicMin"},
                               {"minimum_for_maximum", "atomicMin", "atomicMax"},
                               {"atomic_swapped", "atomicAdd", "atomicExch"},
                               {"atomic_swapped", "atomicAdd", "atomicSub"},
                               {"atomic_swapped", "atomicAdd", "atomicMax"},
                               {"atomic_swapped", "atomicOr", "atomicXor"},
                               {"scope_narrowed", "atomicAdd", "atomicAdd_block"},
                               {"function_swapped", "sqrtf", "rsqrtf"},
                               {"function_swapped", "rsqrtf", "sqrtf"},
                               {"function_swapped", "expf", "exp2f"},
                               {"function_swapped", "exp2f", "expf"},
                               {"function_swapped", "__expf", "exp2f"},
                               {"function_swapped", "logf", "log2f"},
                               {"function_swapped", "log2f", "logf"},
                               {"function_swapped", "__logf", "log2f"},
                               {"function_swapped", "tanhf", "erff"},
                               {"function_swapped", "erff", "tanhf"},
                               {"function_swapped", "expm1f", "expf"},
                               {"function_swapped", "log1pf", "logf"},
                               {"rounding_changed", "rintf", "floorf"},
                               {"rounding_changed", "roundf", "rintf"},
                               {"rounding_changed", "floorf", "ceilf"},
                               {"rounding_changed", "ceilf", "floorf"},
                               {"rounding_changed", "__float2int_rn", "__float2int_rz"},
                               {"rounding_changed", "__float2int_rz", "__float2int_rn"},
                               {"rounding_changed", "__float2half", "__float2half_rz"},
                               {"rounding_changed", "__float2half_rn", "__float2half_rz"},
                               {"rounding_changed", "__float2bfloat16", "__float2bfloat16_rz"},
                               {"rounding_changed", "__float2bfloat16_rn", "__float2bfloat16_rz"},
                               {"shuffle_swapped", "__shfl_xor_sync", "__shfl_down_sync"},
                               {"shuffle_swapped", "__shfl_down_sync", "__shfl_up_sync"},
                               {"shuffle_swapped", "__shfl_up_sync", "__shfl_down_sync"},
                               {"shuffle_swapped", "__any_sync", "__all_sync"},
                               {"shuffle_swapped", "__ffs", "__clz"},
                               {"fence_weakened", "__threadfence", "__threadfence_block"},
                               {"barrier_weakened", "__syncthreads", "__syncwarp"}};

// `f(x)` as `x`.
constexpr std::string_view kDroppable[] = {"fabsf",  "expf",   "__expf", "sqrtf",
                                           "rsqrtf", "logf",   "tanhf",  "floorf",
                                           "erff",   "log1pf", "abs",    "rintf"};

// Functions of two arguments that are replaced by their first: f(a, b) by a.
constexpr std::string_view kOfTwo[] = {"fmaxf", "fminf", "max", "min"};

template <std::size_t kCount>
bool is_one_of(const CodeToken& token, const std::string_view (&words)[kCount]) {
  for (const std::string_view word : words) {
    if (token.is(word)) return true;
  }
  return false;
}

void drop_call(const CodeText& code, std::size_t index, Changes& changes) {
  const CodeToken& name = code.at(index);
  const std::size_t close = code.partner(index + 1);
  if (close == CodeText::kNone || close == index + 2) return;
  const std::size_t length = code.at(close).end() - name.offset;
  if (is_one_of(name, kDroppable))
    changes.push_back({"call_dropped", name.offset, name.text.size(), ""});
  if (!is_one_of(name, kOfTwo)) return;
  const std::size_t comma = code.find_outside(index + 2, {","});
  if (comma == CodeText::kNone) return;
  for (const auto& [first, last] :
       {std::pair(index + 2, comma - 1), std::pair(comma + 1, close - 1)}) {
    changes.push_back(
        {"call_dropped", name.offset, length, "(" + std::string(code.text_of(first, last)) + ")"});
  }
}

// `atomicAdd(&x, y)` as `*(&x) += y`.
void drop_atomicity(const CodeText& code, std::size_t index, Changes& changes) {
  const std::size_t close = code.partner(index + 1);
  if (!code.at(index).is("atomicAdd") || !code.begins_statement(index)) return;
  const std::size_t comma = code.find_outside(index + 2, {","});
  if (close == CodeText::kNone || comma == CodeText::kNone) return;
  changes.push_back({"atomicity_dropped", code.at(index).offset,
                     code.at(close).end() - code.at(index).offset,
                     "*(" + std::string(code.text_of(index + 2, comma - 1)) +
                         ") += " + std::string(code.text_of(comma + 1, close - 1))});
}

}  // namespace

void collect_functions(const CodeText& code, Changes& changes) {
  for (std::size_t i = 0; i + 1 < code.size(); ++i) {
    if (!code.at(i).is_name() || !code.at(i + 1).is("(")) continue;
    collect_swaps(code.at(i), kFunctions, changes);
    drop_call(code, i, changes);
    drop_atomicity(code, i, changes);
  }
}

}  // namespace krl::service
