#include "service/runs/kept_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <kernelrl/evaluation_json.hpp>
#include <string>
#include <string_view>

#include "core/base/file_system.hpp"

namespace krl::service {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

std::vector<fs::path> files_in(const fs::path& folder, std::string_view extension) {
  std::vector<fs::path> files = children_of(folder).value_or(std::vector<fs::path>());
  std::erase_if(files, [&](const fs::path& file) { return file.extension() != extension; });
  return files;
}

}  // namespace

Status each_sample(const RunLayout& run,
                   const std::function<Status(const json& sample, int iteration)>& use,
                   const std::function<void(int iteration, std::int64_t count)>& missing) {
  for (const fs::path& file : files_in(run.samples(), ".jsonl")) {
    const std::string stem = file.stem().string();  // iteration_000013
    const int iteration = std::atoi(stem.c_str() + std::min(stem.find('_') + 1, stem.size()));
    std::ifstream lines(file);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      const json sample = json::parse(line, nullptr, false);
      try {
        if (!sample.is_object() || !sample.contains("left_out"))
          KRL_TRY(use(sample, iteration));
        else if (missing)
          missing(iteration, sample.at("left_out").get<std::int64_t>());
      } catch (const json::exception&) {
        return invalid(fmt::format("{}:{}: not a sample of a run", file.string(), number));
      }
    }
  }
  return {};
}

Result<std::vector<BestKernel>> read_best_kernels(const RunLayout& run) {
  std::vector<BestKernel> kernels;
  for (const fs::path& file : files_in(run.best(), ".json")) {
    KRL_ASSIGN(const std::string text, read_file(file));
    const json record = json::parse(text, nullptr, false);
    try {
      kernels.push_back({record.at("task"), record.at("iteration"), record.at("source"),
                         record.at("evaluation").get<Evaluation>()});
    } catch (const std::exception&) {  // wrong types or names in it
      return invalid(file.string() + ": not a kernel of a run");
    }
  }
  return kernels;
}

}  // namespace krl::service
