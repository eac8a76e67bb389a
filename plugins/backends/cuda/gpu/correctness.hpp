// Checks the correctness of a candidate: it runs on the GPU, and the checker, which it cannot
// reach, examines the memory afterwards.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plugins/backends/cuda/gpu/gpu.hpp"
#include "plugins/backends/cuda/gpu/gpu_candidate.hpp"
#include "plugins/backends/evaluator/check/case_verdicts.hpp"
#include "plugins/backends/evaluator/check/run_plan.hpp"
#include "plugins/backends/evaluator/check/task_checks.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"

namespace krl::cuda {

// Loads the candidate and does the planned runs, in their order. Fills in the record's cases, and
// its verdict if it is not ok. A fault ends all; a wrong result ends its case. Throws Failure for
// infrastructure errors, KRL_INVALID_ARGUMENT if the reference is wrong.
void check_on_gpu(Gpu& gpu, const GpuCandidate& candidate,
                  const std::vector<evaluator::PlannedRun>& plan,
                  evaluator::EvaluationRecord* record);

// The outcome of a run, from inspecting its memory.
struct Inspection {
  evaluator::RunVerdict verdict;
  std::string outside;  // a place outside of all buffers that was written; empty: none
};
// Executes runs of the loaded code, on sets of buffers somewhere in the arena, and inspects the
// results. Host code executes one at a time. `anew`: before each case the module is as if just
// loaded.
Checked<std::vector<Inspection>, RunnerFailure> run_and_inspect(
    Gpu& gpu, const GpuCandidate& candidate, std::span<const evaluator::PlannedRun> runs,
    bool anew = true);

// After all runs of a candidate, timed ones too: a write far from its buffers makes an evaluation
// that was ok a runtime fault.
void check_arena(Gpu& gpu, evaluator::EvaluationRecord* record);

// Ends the process of a candidate with host code. Returns false if it had left work on the GPU: the
// record reports that, for the case of `run`.
bool ends_in_order(Gpu& gpu, const GpuCandidate& candidate, const evaluator::PlannedRun& run,
                   evaluator::EvaluationRecord* record);

// Returns the checker's results. Throws as Gpu::ask_checker.
std::vector<gpu::CheckResult> results_of(Gpu& gpu, const std::vector<gpu::Check>& checks);

gpu::DrawnInputs drawn_inputs(const evaluator::PlannedRun& run);

// Makes the request for the expected outputs of a run, without any reference to a runner's memory.
gpu::Check expectation(const evaluator::PreparedTask& task, const evaluator::PlannedRun& run);

// Computes the expected outputs of a run before they are needed. Throws as check_on_gpu does.
void expect_on_gpu(Gpu& gpu, const evaluator::PreparedTask& task, const evaluator::PlannedRun& run);

// Returns how much the checks of a run's outputs can tell. Throws as check_on_gpu does.
std::vector<evaluator::OutputTraits> traits_on_gpu(Gpu& gpu, const evaluator::PreparedTask& task,
                                                   const evaluator::PlannedRun& run);

// Would the made-up outputs pass every run in which they are tried? Throws as check_on_gpu does.
bool passes_on_gpu(Gpu& gpu, const evaluator::PreparedTask& task,
                   const std::vector<evaluator::PlannedRun>& runs,
                   const evaluator::Impostor& impostor);

// A runner of host code was killed, by someone else or by its candidate.
struct RunnerKilled : Failure {
  RunnerKilled() : Failure(KRL_UNAVAILABLE, "the process that ran the candidate was killed") {}
};

// The verdict on a candidate whose runner failed, and why. Throws Failure(KRL_UNAVAILABLE) where
// the candidate is not the reason.
struct Blame {
  Verdict verdict;
  std::string why;
};
Blame blame_of(const RunnerFailure& failure, const GpuCandidate& candidate,
               const evaluator::PlannedRun& run);

}  // namespace krl::cuda
