#include "core/run/checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <system_error>

#include "core/base/clock.hpp"
#include "core/base/file_system.hpp"
#include "core/base/hash.hpp"

namespace krl::core {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::string_view kStep = "step_";
constexpr std::string_view kDraft = "draft_";          // not whole yet
constexpr std::string_view kDiscarded = "discarded_";  // prefix while it is removed
constexpr std::string_view kDamaged = "damaged_";
constexpr const char* kBest = "best";
constexpr const char* kBestFile = "best.json";
constexpr const char* kList = "checkpoints.jsonl";

std::string step_name(int iteration) { return fmt::format("{}{:06}", kStep, iteration); }

std::optional<int> iteration_of(const std::string& name) {
  if (!name.starts_with(kStep)) return std::nullopt;
  int iteration = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + kStep.size(), end, iteration);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return iteration;
}

// Iterations of the steps in place, newest first.
Result<std::vector<int>> steps_in(const fs::path& directory) {
  KRL_ASSIGN(const std::vector<fs::path> children, children_of(directory));
  std::vector<int> steps;
  for (const fs::path& child : children)
    if (const auto iteration = iteration_of(child.filename())) steps.push_back(*iteration);
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

struct Contents {
  std::vector<fs::path> files;  // relative to the step, sorted
  std::uintmax_t bytes = 0;
};

Result<Contents> contents_of(const fs::path& step) {
  Contents contents;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(step, error)) {
    if (entry.is_directory()) continue;
    contents.files.push_back(entry.path().lexically_relative(step));
    contents.bytes += entry.file_size(error);
  }
  if (error) return failure(file_error("read", step, error.value()));
  std::ranges::sort(contents.files);
  return contents;
}

Result<std::string> make_manifest(const fs::path& step, const Contents& contents) {
  Json files = Json::object();
  for (const fs::path& file : contents.files) {
    KRL_ASSIGN(const std::string hash, sha256_of_file(step / file));
    std::error_code error;
    files[file.string()] = {{"bytes", fs::file_size(step / file, error)}, {"sha256", hash}};
    if (error) return failure(file_error("read", step / file, error.value()));
  }
  return Json{{"files", files}}.dump(2) + "\n";
}

// Checks that every file of the manifest exists as it was written.
Status verify(const fs::path& step) {
  KRL_ASSIGN(const std::string text, read_file(step / "manifest.json"));
  const Json manifest = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!manifest.is_object() || !manifest.contains("files") || !manifest["files"].is_object())
    return invalid((step / "manifest.json").string() + " is damaged");
  for (const auto& [name, expected] : manifest["files"].items()) {
    KRL_ASSIGN(const std::string hash, sha256_of_file(step / name));
    if (!expected.is_object() || expected.value("sha256", "") != hash)
      return invalid((step / name).string() + " is damaged: its checksum does not match");
  }
  return {};
}

// Returns the contents of best.json; null if there is none.
Json best_in(const fs::path& directory) {
  const auto text = read_file(directory / kBestFile);
  Json best = text ? Json::parse(*text, nullptr, /*allow_exceptions=*/false) : Json();
  const bool whole = best.is_object() && best["iteration"].is_number_integer() &&
                     best["value"].is_number() && best["of"].is_string();
  return whole ? best : Json();
}

// The iterations whose checkpoints were saved as permanent.
std::set<int> permanent_in(const fs::path& directory) {
  std::set<int> iterations;
  std::istringstream lines(read_file(directory / kList).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const Json entry = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (entry.is_object() && entry.value("permanent", false))
      iterations.insert(entry.value("iteration", 0));
  }
  return iterations;
}

Result<Checkpoint> read_step(const fs::path& step) {
  KRL_TRY(verify(step));
  KRL_ASSIGN(std::string state, read_file(step / "state.json"));
  return Checkpoint{iteration_of(step.filename()).value_or(0), step, std::move(state)};
}

// The folder that `step` means.
Result<fs::path> step_at(const fs::path& step) {
  std::error_code ignored;
  if (fs::exists(step / "manifest.json", ignored)) return step;
  if (step.filename() == kBest) {
    const Json best = best_in(step.parent_path());
    if (!best.is_null()) return step.parent_path() / step_name(best["iteration"].get<int>());
    return failure(
        Code::kNotFound,
        "no checkpoint in '" + step.parent_path().string() +
            "' is marked as the best one; checkpoint.best of its plan defines what is best");
  }
  return failure(Code::kNotFound, "there is no checkpoint in '" + step.string() +
                                      "'; name a folder such as runs/NAME/checkpoints/step_000020");
}

}  // namespace

bool Checkpoint::learned() const {
  const nlohmann::json read = nlohmann::json::parse(state, nullptr, /*allow_exceptions=*/false);
  return !read.is_object() || read.value("learned", true);
}

Checkpoints::Checkpoints(fs::path directory, CheckpointsKept kept, FileSystem& files)
    : directory_(std::move(directory)), kept_(std::move(kept)), files_(&files) {
  const Json best = kept_.best_of.empty() ? Json() : best_in(directory_);
  std::error_code ignored;
  if (!best.is_null() && best["of"] == kept_.best_of &&
      fs::exists(directory_ / step_name(best["iteration"].get<int>()), ignored))
    best_ = {best["iteration"].get<int>(), best["value"].get<double>()};
}

Result<Checkpoints> Checkpoints::open(const fs::path& directory, CheckpointsKept kept,
                                      FileSystem& files) {
  KRL_TRY(make_directories(files, directory));
  KRL_ASSIGN(const std::vector<fs::path> children, children_of(directory));
  for (const fs::path& child : children) {
    const std::string name = child.filename();
    if (name.starts_with(kDraft) || name.starts_with(kDiscarded))
      KRL_TRY(remove_tree(files, child));
  }
  return Checkpoints(directory, std::move(kept), files);
}

Status Checkpoints::save(int iteration, std::string_view state, const SavePolicy& save_policy,
                         const ForgetPolicy& forget_policy, bool permanent) {
  const fs::path draft = directory_ / (std::string(kDraft) + step_name(iteration));
  Status status = write_draft(draft, state, save_policy);
  if (status) status = publish(draft, iteration, permanent);
  if (status && awaited_ && awaited_->iteration == iteration) status = compare(*awaited_);
  if (status) return remove_old(forget_policy);
  std::uintmax_t needed = 0;
  if (const auto written = contents_of(draft)) needed = written->bytes;
  if (const auto steps = steps_in(directory_); steps && !steps->empty())
    if (const auto last = contents_of(directory_ / step_name(steps->front())))
      needed = std::max(needed, last->bytes);
  status = explain_full_disk(std::move(status), directory_, needed);
  // Frees the space again at once; the next `open` removes the rest.
  const Status removed = remove_tree(*files_, draft);
  return status;
}

Status Checkpoints::write_draft(const fs::path& draft, std::string_view state,
                                const SavePolicy& save_policy) {
  KRL_TRY(remove_tree(*files_, draft));
  KRL_TRY(files_->make_directory(draft));
  KRL_TRY(files_->make_directory(draft / "policy"));
  KRL_TRY(save_policy(draft / "policy"));
  KRL_TRY(write_atomically(*files_, draft / "state.json", state, Durability::kFast));
  KRL_ASSIGN(const Contents contents, contents_of(draft));
  KRL_ASSIGN(const std::string manifest, make_manifest(draft, contents));
  KRL_TRY(write_atomically(*files_, draft / "manifest.json", manifest));
  return sync_tree(*files_, draft);
}

Status Checkpoints::publish(const fs::path& draft, int iteration, bool permanent) {
  const std::string name = step_name(iteration);
  KRL_ASSIGN(const Contents contents, contents_of(draft));
  KRL_TRY(discard(directory_ / name));  // a damaged one under this name would be in the way
  KRL_TRY(files_->rename(draft, directory_ / name));
  KRL_TRY(files_->sync(directory_));
  const fs::path list = directory_ / kList;
  std::string before;
  if (auto text = read_file(list)) before = std::move(*text);
  KRL_ASSIGN(LineFile lines, LineFile::open(list, size_of_whole_lines(before), *files_));
  Json line = {{"iteration", iteration},
               {"directory", name},
               {"bytes", contents.bytes},
               {"time", iso_time(unix_seconds())}};
  if (permanent) line["permanent"] = true;
  KRL_TRY(lines.append(line.dump()));
  return lines.sync();
}

// Out of the way by one rename first, so that a crash never leaves half a step under its own name.
Status Checkpoints::discard(const fs::path& step) {
  std::error_code ignored;
  if (!fs::exists(step, ignored)) return {};
  const fs::path discarded = directory_ / (std::string(kDiscarded) + step.filename().string());
  KRL_TRY(remove_tree(*files_, discarded));
  KRL_TRY(files_->rename(step, discarded));
  return remove_tree(*files_, discarded);
}

Status Checkpoints::rate(int iteration, double value) {
  if (std::isnan(value)) return {};
  std::error_code ignored;
  if (fs::exists(directory_ / step_name(iteration), ignored)) return compare({iteration, value});
  awaited_ = {iteration, value};
  return {};
}

// One that is rated again, by a resumed run, has a new value.
Status Checkpoints::compare(const Rated& rated) {
  awaited_.reset();
  if (best_ && best_->iteration != rated.iteration && !(rated.value > best_->value)) return {};
  best_ = rated;
  const Json text = {{"directory", step_name(rated.iteration)},
                     {"iteration", rated.iteration},
                     {"of", kept_.best_of},
                     {"value", rated.value}};
  return write_atomically(*files_, directory_ / kBestFile, text.dump(2) + "\n");
}

Status Checkpoints::remove_old(const ForgetPolicy& forget_policy) {
  KRL_ASSIGN(std::vector<int> steps, steps_in(directory_));
  const auto newest = std::min(steps.size(), static_cast<std::size_t>(std::max(kept_.newest, 1)));
  const int oldest_new = steps.empty() ? 0 : steps[newest - 1];
  std::ranges::reverse(steps);
  const std::set<int> always = permanent_in(directory_);
  int permanent = 0;  // the last one so far that is kept permanently
  for (const int iteration : steps) {
    if (iteration >= oldest_new) break;
    if (kept_.every > 0 && iteration - permanent >= kept_.every) {
      permanent = iteration;
      continue;
    }
    if ((best_ && best_->iteration == iteration) || always.contains(iteration)) continue;
    const fs::path step = directory_ / step_name(iteration);
    if (forget_policy) forget_policy(step / "policy");
    KRL_TRY(discard(step));
  }
  return {};
}

Result<std::optional<Checkpoint>> Checkpoints::newest(std::vector<std::string>& warnings) {
  KRL_ASSIGN(const std::vector<int> steps, steps_in(directory_));
  for (const int iteration : steps) {
    const fs::path step = directory_ / step_name(iteration);
    Result<Checkpoint> checkpoint = read_step(step);
    if (checkpoint) return std::move(*checkpoint);
    const fs::path aside = directory_ / (std::string(kDamaged) + step.filename().string());
    warnings.push_back(checkpoint.error().message + "; it is set aside as " + aside.string() +
                       ", and an older checkpoint is used");
    KRL_TRY(remove_tree(*files_, aside));
    KRL_TRY(files_->rename(step, aside));
  }
  return std::nullopt;
}

Result<Checkpoint> read_checkpoint(const fs::path& step) {
  KRL_ASSIGN(const fs::path folder, step_at(step));
  return read_step(folder);
}

Result<std::optional<Checkpoint>> newest_checkpoint(const fs::path& directory,
                                                    std::vector<std::string>& warnings) {
  KRL_ASSIGN(const std::vector<int> steps, steps_in(directory));
  for (const int iteration : steps) {
    Result<Checkpoint> checkpoint = read_step(directory / step_name(iteration));
    if (checkpoint) return std::move(*checkpoint);
    warnings.push_back(checkpoint.error().message + "; an older checkpoint is used");
  }
  return std::nullopt;
}

}  // namespace krl::core
