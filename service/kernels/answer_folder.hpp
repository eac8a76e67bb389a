// The answers in a folder: each file with the task that its name or its folder's name tells.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "service/kernels/answer_evaluation.hpp"

namespace krl::service {

struct AnswerFolder {
  std::vector<AnswerToJudge> answers;  // by name
  std::vector<std::string> left_out;   // "NAME: why"
};

// Reads the files .cu and .py below `folder`. `tasks` outlives the result.
Result<AnswerFolder> read_answer_folder(const std::filesystem::path& folder,
                                        const std::vector<Task>& tasks);

}  // namespace krl::service
