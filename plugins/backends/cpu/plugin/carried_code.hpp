// A candidate that carries its compiled code: see KRL_CANDIDATE_HAS_PTX.
#pragma once

#include <kernelrl/proof_stage.h>

#include <string_view>

#include "plugins/backends/evaluator/evaluation_request.hpp"

namespace krl::cpu {

struct CandidateText {
  std::string_view source, ptx;  // ptx: empty if it carries none
};

inline CandidateText source_and_ptx(const evaluator::EvaluationRequest& request) {
  constexpr std::string_view kMark = KRL_PTX_MARK;
  const std::size_t mark = (request.stages & KRL_CANDIDATE_HAS_PTX) != 0
                               ? request.source.find(kMark)
                               : std::string_view::npos;
  if (mark == std::string_view::npos) return {request.source, {}};
  return {request.source.substr(0, mark), request.source.substr(mark + kMark.size())};
}

}  // namespace krl::cpu
