#include "service/kernels/answer_evaluation.hpp"

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <cmath>
#include <kernelrl/evaluation_json.hpp>
#include <utility>

#include "core/base/hash.hpp"
#include "core/episode/cascade_costs.hpp"

namespace krl::service {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNotJudged = "not judged";

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// The options of a backend, but for those that change only how fast it judges.
std::string decisive_options(const ComponentSettings& backend) {
  nlohmann::json options = backend.options;
  for (const char* key : {"cache", "cache_mb", "concurrency"}) options.erase(key);
  return backend.use + options.dump();
}

// Returns the options that decide an evaluation.
std::string decisive_options(const JudgeOptions& options) {
  std::string text = decisive_options(options.backend) + '\n' + options.protocol + '\n';
  for (const ComponentSettings& before : options.backend.before)
    text += "before " + decisive_options(before) + '\n';
  if (const auto& sanitizer = options.backend.sanitizer) text += decisive_options(*sanitizer);
  if (options.contract) text += name_of(*options.contract);
  return text + (options.holdout ? "holdout" : "");
}

// Tells if the kernel was right; none: it was refused, did not compile, or was not executed.
std::optional<bool> is_right(const Evaluation& evaluation) {
  if (!evaluation.compiled() || (evaluation.passed() && evaluation.cases.empty())) return {};
  return evaluation.passed();
}

JudgedLine read_line(const Json& line) {
  JudgedLine read;
  const std::string task = line.value("task", "");
  read.group = task.substr(0, task.rfind('/'));
  read.verdict =
      line.contains("error") ? kNotJudged : line["evaluation"]["verdict"].get<std::string>();
  if (line.contains("kernelbench")) read.kernelbench = kernelbench_verdict_of(line["kernelbench"]);
  if (const auto right = line.find("right"); right != line.end() && right->is_boolean())
    read.right = right->get<bool>();
  if (const auto speedup = line.find("speedup"); speedup != line.end() && speedup->is_number())
    read.speedup = speedup->get<double>();
  if (line.contains("evaluation")) add_costs(line["evaluation"].get<Evaluation>(), read.costs);
  if (line.contains("claim")) read.claim = claim_of(line["claim"]);
  return read;
}

bool is_of_output(const Json& line) {
  const auto is_text = [&](const char* key) { return line.contains(key) && line[key].is_string(); };
  return line.is_object() && is_text("digest") && is_text("kernel") &&
         line.contains(Json::json_pointer("/evaluation/verdict"));
}

// "ok; kernelbench: …".
std::string headline(const Json& line) {
  if (line.contains("error")) return "not judged: " + first_line(line["error"]);
  const Json& evaluation = line["evaluation"];
  std::string text = evaluation["verdict"].get<std::string>();
  if (const std::string why = evaluation.value("why", ""); !why.empty())
    text += ": " + first_line(why);
  if (line["speedup"].is_number())
    text += fmt::format(", {:.2f} times the baseline", line["speedup"].get<double>());
  if (line.contains("kernelbench")) {
    const std::string other = describe(kernelbench_verdict_of(line["kernelbench"]));
    text += "; " + other.substr(0, other.size() - 1);
  }
  return text;
}

Json line_of(const AnswerToJudge& answer, const std::string& digest,
             const Result<JudgedKernel>& judged) {
  Json line = {{"kernel", answer.name}, {"task", answer.task->id}, {"digest", digest}};
  if (!answer.claim.empty()) line["claim"] = to_json(answer.claim);
  if (!judged) {
    line["error"] = judged.error().message;
    return line;
  }
  const auto right = is_right(judged->evaluation);
  const double speedup = judged->evaluation.speedup();
  line["right"] = right ? Json(*right) : Json();
  line["speedup"] = std::isfinite(speedup) ? Json(speedup) : Json();
  if (!answer.record.is_null()) line["record"] = answer.record;
  line.update(to_json(*judged));
  return line;
}

}  // namespace

Result<std::unique_ptr<AnswerEvaluation>> AnswerEvaluation::open(const JudgeOptions& options,
                                                                 const std::string& output,
                                                                 Components& components) {
  KRL_ASSIGN(KernelJudges judges, KernelJudges::open(options, components));
  std::unique_ptr<AnswerEvaluation> made(
      new AnswerEvaluation(std::move(judges), decisive_options(options)));
  if (!output.empty()) KRL_TRY(made->open_output(output));
  return made;
}

Status AnswerEvaluation::open_output(const std::string& file) {
  const auto keep = [&](const Json& line) {
    if (!is_of_output(line)) return false;
    earlier_.insert_or_assign(line["digest"].get<std::string>(), read_line(line));
    names_.insert(line["kernel"].get<std::string>());
    return true;
  };
  KRL_ASSIGN(output_, OutputLines::open(file, {"judged kernels", "kernel"}, keep));
  return {};
}

Result<AnswerSummary> AnswerEvaluation::run(
    const std::function<std::optional<AnswerToJudge>()>& next, const Judged& judged) {
  boost::asio::thread_pool pool(judges_.at_a_time());
  for (std::size_t i = 0; i < judges_.at_a_time(); ++i) {
    boost::asio::post(pool, [&] {
      for (;;) {
        std::unique_lock lock(next_mutex_);
        const auto answer = next();
        lock.unlock();
        if (!answer || !evaluate(*answer, judged)) return;
      }
    });
  }
  pool.join();
  if (summary_.verdicts.empty() && !summary_.ended)
    return invalid("there is nothing to judge: no kernel for any of the tasks");
  return std::move(summary_);
}

std::string AnswerEvaluation::digest(const AnswerToJudge& answer) const {
  std::string all = answer.name + '\0' + answer.source.value_or("") + '\0' +
                    answer.task->definition_json + '\0' + options_;
  if (answer.contract) all += '\0' + std::string(name_of(*answer.contract));
  return sha256_hex(all);
}

bool AnswerEvaluation::evaluate(const AnswerToJudge& answer, const Judged& shown) {
  const std::string id = digest(answer);
  std::unique_lock lock(mutex_);
  if (summary_.ended) return false;
  if (const auto known = earlier_.find(id); known != earlier_.end()) {
    count(known->second);
    return true;
  }
  if (once_ && names_.count(answer.name) != 0) {
    end({Code::kInvalidArgument,
         answer.name +
             ": the output holds its verdict by other options, for another version of its "
             "task or source, or of another table of this name; name another file"});
    return false;
  }
  lock.unlock();
  EvaluateOptions options = judges_.options();
  options.contract = answer.contract.value_or(options.contract);
  const auto judged = answer.source ? judges_.judge(*answer.task, *answer.source, options)
                                    : Result<JudgedKernel>(failure(answer.source.error()));
  const Json line = line_of(answer, id, judged);
  lock.lock();
  shown(answer.name, headline(line));
  count(read_line(line));
  // Answers that were not judged are tried again by the next call.
  if (!judged || !output_ || summary_.ended) return !summary_.ended;
  const Status written = output_->append(line);
  if (!written) end(written.error());
  return !summary_.ended;
}

void AnswerEvaluation::end(Error error) {
  if (!summary_.ended) summary_.ended = std::move(error);
  ++summary_.failed;
}

void AnswerEvaluation::count(const JudgedLine& line) {
  summary_.failed += line.verdict == kNotJudged ? 1 : 0;
  if (line.kernelbench) summary_.kernelbench.push_back(*line.kernelbench);
  if (std::isfinite(line.speedup)) summary_.device = judges_.device();
  ++summary_.verdicts[line.verdict];
  for (const auto& [name, ms] : line.costs) summary_.costs[name] += ms;
  summary_.claims.add(line.group, line.claim, line.right, line.speedup);
}

}  // namespace krl::service
