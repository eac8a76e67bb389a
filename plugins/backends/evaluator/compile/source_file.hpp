// The name of a candidate's source, given to every compiler: it is in the log and in the PTX.
#pragma once

namespace krl::evaluator {

inline constexpr char kSourceFile[] = "kernel.cu";

}  // namespace krl::evaluator
