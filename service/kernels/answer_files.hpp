// Answers in files: each with the task that its name or its folder's name tells.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "service/kernels/answer_evaluation.hpp"

namespace krl::service {

struct AnswerFiles {
  std::vector<AnswerToJudge> answers;
  std::vector<std::string> left_out;  // "NAME: why"
};

// Reads files whose names are relative to `folder`. `tasks` outlives the result.
AnswerFiles read_answer_files(const std::vector<std::string>& names, const std::vector<Task>& tasks,
                              const std::filesystem::path& folder = {});

// Reads the files .cu and .py below `folder`, in the order of their names.
Result<AnswerFiles> read_answer_folder(const std::filesystem::path& folder,
                                       const std::vector<Task>& tasks);

}  // namespace krl::service
