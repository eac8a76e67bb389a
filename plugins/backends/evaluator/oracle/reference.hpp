// References: TorchScript functions, compiled once and called in float64 and float32.
// Used by the oracle's one thread. libtorch is kept out of this header.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "plugins/backends/evaluator/oracle/oracle_protocol.hpp"

namespace krl {

class ReferenceStore {
 public:
  ReferenceStore();
  ~ReferenceStore();

  // Writes expected values and own errors where the request says. Returns what is wrong with the
  // reference: it does not compile, it fails, or it returns other types or shapes than declared.
  std::optional<ReferenceProblem> compute(const OracleRequest& request, std::byte* memory);

 private:
  struct Compiled;
  Compiled& compiled(const std::string& text);
  std::unique_ptr<Compiled> last_;
};

}  // namespace krl
