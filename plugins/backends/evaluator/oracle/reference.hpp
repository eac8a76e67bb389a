// References: TorchScript functions, compiled once and called in float64 and float32.
// Used by the oracle's one thread. libtorch is kept out of this header.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "plugins/backends/evaluator/oracle/oracle_protocol.hpp"

namespace krl {

enum class ReferenceDevice { kCpu, kCuda };  // the current GPU; libtorch_cuda is loaded already

class ReferenceStore {
 public:
  explicit ReferenceStore(ReferenceDevice device = ReferenceDevice::kCpu);
  ~ReferenceStore();

  // Writes expected values and own errors where the request says; `memory` is the device's. Returns
  // what is wrong with the reference: it does not compile, it fails, or it returns other types or
  // shapes than declared.
  std::optional<ReferenceProblem> compute(const OracleRequest& request, std::byte* memory);

  // A call of a reference that compute() found to be right, its inputs ready and of the types that
  // the task declares, for its time: what it returns is dropped.
  std::function<void()> callable(const OracleRequest& request, std::byte* memory);

 private:
  struct Compiled;
  Compiled& compiled(const std::string& text);
  const ReferenceDevice device_;
  std::unique_ptr<Compiled> last_;
};

}  // namespace krl
