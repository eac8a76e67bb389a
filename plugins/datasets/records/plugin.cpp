// The dataset `records`: pairs and documents from the tables of other projects, Parquet and JSON
// lines, by a mapping of their columns.
#include <algorithm>
#include <cstdint>
#include <kernelrl/option_lists.hpp>
#include <kernelrl/sdk.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugins/datasets/records/python_literal.hpp"
#include "plugins/datasets/records/record_file.hpp"
#include "plugins/datasets/records/record_text.hpp"

namespace krl::records {
namespace {

// Says the first few of many complaints, and how many there were.
class Complaints {
 public:
  explicit Complaints(const Context& context) : context_(context) {}
  ~Complaints() {
    if (count_ > kShown)
      context_.warning(std::to_string(count_ - kShown) + " more records or files are left out");
  }
  void add(const std::string& what) {
    if (count_++ < kShown) context_.warning(what);
  }

 private:
  static constexpr std::size_t kShown = 20;

  const Context& context_;
  std::size_t count_ = 0;
};

class RecordDataset final : public Dataset {
 public:
  std::string path, id, prompt, answer, text, task_hint;
  std::int64_t limit = 0;

  static constexpr auto config = krl::config(
      opt("path", &RecordDataset::path,
          "a file (.parquet, .jsonl, .ndjson), or a folder of such files, searched recursively")
          .path()
          .required(),
      opt("id", &RecordDataset::id,
          "what identifies a record, such as \"{{uuid}}\"; empty: its file and position"),
      opt("prompt", &RecordDataset::prompt,
          "the task of a pair, in which {{column}} stands for a value"),
      opt("answer", &RecordDataset::answer, "the answer of a pair; then records are pairs"),
      opt("text", &RecordDataset::text, "the text of a document; then records are documents"),
      opt("task", &RecordDataset::task_hint,
          "the id of the task that a document answers, so that its own task is not shown it"),
      free_opt("where", KRL_ARRAY,
               "only records for which all of these hold: [\"Correct\", \"speedup >= 1.5\"]"),
      free_opt(
          "meta", KRL_ARRAY,
          "columns kept with a document, \"*\": all; Python literals in them are read as values"),
      opt("limit", &RecordDataset::limit, "at most so many records; 0: all").at_least(0));

  void start(const Config& options, const Context& context) override {
    read_options(options);
    Complaints complaints(context);
    for (const auto& file : record_files(path)) {
      if (is_full()) break;
      try {
        add(file, complaints, context);
      } catch (const Failure& failure) {
        if (failure.code() != KRL_INVALID_ARGUMENT || path == file) throw;
        complaints.add(failure.what());
      }
    }
    if (rows_.empty()) invalid_argument("no record of " + path + " is left" + why_none());
  }

  std::uint64_t size() override { return rows_.size(); }

  void read(std::uint64_t index, const DatasetSink& sink, const Context&) override {
    if (index >= size()) invalid_argument("there is no record " + std::to_string(index));
    const auto [file, position] = rows_[index];
    const nlohmann::json record = files_[file].records->read(position);
    const std::string name =
        id_ ? value(*id_, record) : files_[file].name + "#" + std::to_string(position);
    if (answer_) {
      push_pair(record, name, sink);
    } else {
      push_document(record, name, sink);
    }
  }

 private:
  struct File {
    std::string name;
    std::unique_ptr<RecordFile> records;
  };
  struct Row {
    std::uint32_t file;
    std::uint64_t position;
  };

  void read_options(const Config& options) {
    if (answer.empty() == text.empty())
      invalid_argument("give either prompt and answer, for pairs, or text, for documents");
    if (!answer.empty() && prompt.empty()) invalid_argument("answer needs a prompt");
    const auto keep = [this](const std::string& option, std::optional<RecordText>& out) {
      if (option.empty()) return;
      out.emplace(option);
      for (const std::string& name : out->paths()) paths_.insert(name);
    };
    keep(id, id_), keep(prompt, prompt_), keep(answer, answer_), keep(text, text_),
        keep(task_hint, task_);
    meta_ = list_option<std::string>(options, "meta");
    keeps_all_ = contains<std::string>(meta_, "*");
    if (keeps_all_) meta_.clear();
    paths_.insert(meta_.begin(), meta_.end());
    for (const std::string& condition : list_option<std::string>(options, "where")) {
      conditions_.emplace_back(condition);
      paths_.insert(conditions_.back().path());
    }
  }

  bool is_full() const { return limit > 0 && rows_.size() >= static_cast<std::size_t>(limit); }

  void add(const std::filesystem::path& file, Complaints& complaints, const Context& context) {
    File opened{file.string(), open_record_file(file)};
    const std::vector<std::string> columns = opened.records->columns();
    if (!columns.empty()) check_columns(opened.name, columns);
    std::set<std::string> wanted;
    for (const std::string& name : paths_)
      wanted.insert(contains(columns, name) ? name : column_of(name));
    if (keeps_all_) wanted.insert(columns.begin(), columns.end());
    const auto number = static_cast<std::uint32_t>(files_.size());
    opened.records->scan(
        wanted,
        [&](std::uint64_t position, const nlohmann::json& record) {
          ++seen_;
          if (seen_ % 1024 == 0) context.throw_if_cancelled();
          if (!is_full() && is_wanted(record)) rows_.push_back({number, position});
        },
        [&](const std::string& what) {
          ++unread_;
          complaints.add(what);
        });
    files_.push_back(std::move(opened));
  }

  void check_columns(const std::string& file, const std::vector<std::string>& columns) const {
    for (const std::string& name : paths_) {
      if (contains(columns, name) || contains(columns, column_of(name))) continue;
      invalid_argument(file + ": there is no column '" + column_of(name) + "'" +
                       did_you_mean(column_of(name), columns));
    }
  }

  // Records without a value that they need are counted, not named: tables leave many empty.
  bool is_wanted(const nlohmann::json& record) {
    for (const Condition& condition : conditions_) {
      if (condition.holds(record)) continue;
      ++excluded_;
      return false;
    }
    std::string missing;
    for (const auto* needed : {&id_, &prompt_, &answer_, &text_, &task_}) {
      if (!*needed || (*needed)->of(record, &missing)) continue;
      ++missing_[missing];
      return false;
    }
    return true;
  }

  std::string why_none() const {
    std::string why =
        ": of " + std::to_string(seen_) + " records, `where` excludes " + std::to_string(excluded_);
    for (const auto& [name, count] : missing_)
      why += ", " + std::to_string(count) + " have no '" + name + "'";
    if (unread_ > 0)
      why += "; " + std::to_string(unread_) + " more could not be read (see the log)";
    return why;
  }

  static std::string value(const RecordText& text, const nlohmann::json& record) {
    std::string missing;
    auto value = text.of(record, &missing);
    if (!value) throw Failure(KRL_UNAVAILABLE, "a record has lost its '" + missing + "'");
    return *std::move(value);
  }

  void push_pair(const nlohmann::json& record, const std::string& name,
                 const DatasetSink& sink) const {
    const std::string question = value(*prompt_, record), reply = value(*answer_, record);
    krl_task task{};
    task.id = task.title = to_c(name);
    task.prompt = to_c(question);
    sink.pair(task, reply);
  }

  void push_document(const nlohmann::json& record, const std::string& name,
                     const DatasetSink& sink) const {
    const std::string content = value(*text_, record);
    const std::string task = task_ ? value(*task_, record) : std::string();
    nlohmann::json meta = nlohmann::json::object();
    const auto keep = [&meta](const std::string& column, const nlohmann::json& value) {
      if (value.is_null()) return;
      const auto literal =
          value.is_string() ? read_python_literal(value.get<std::string>()) : std::nullopt;
      meta[column] = literal ? *literal : value;
    };
    for (const std::string& column : meta_) {
      if (const auto* const found = value_at(record, column)) keep(column, *found);
    }
    for (auto it = record.begin(); keeps_all_ && it != record.end(); ++it)
      keep(it.key(), it.value());
    const std::string meta_json =
        meta.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    krl_document document{};
    document.id = to_c(name);
    document.task_hint = to_c(task);
    document.text = to_c(content);
    document.meta_json = to_c(meta_json);
    sink.document(document);
  }

  std::optional<RecordText> id_, prompt_, answer_, text_, task_;
  std::vector<std::string> meta_;
  bool keeps_all_ = false;  // all columns
  std::vector<Condition> conditions_;
  std::set<std::string> paths_;  // paths of all files
  std::vector<File> files_;
  std::vector<Row> rows_;
  std::size_t seen_ = 0, excluded_ = 0, unread_ = 0;
  // Number of records that lack something, by its name.
  std::map<std::string, std::size_t> missing_;
};

}  // namespace
}  // namespace krl::records

KRL_PLUGIN("records", "0.1.0",
           krl::dataset<krl::records::RecordDataset>(
               "records", "Pairs and documents from Parquet and JSON lines"))
