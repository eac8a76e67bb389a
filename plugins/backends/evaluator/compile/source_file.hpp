// What every compiler is told that a candidate's source is called: its log and its PTX say so.
#pragma once

namespace krl::evaluator {

inline constexpr char kSourceFile[] = "kernel.cu";

}  // namespace krl::evaluator
