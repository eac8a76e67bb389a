#include <arrow/api.h>
#include <arrow/io/file.h>
#include <arrow/visit_array_inline.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>

#include <algorithm>
#include <kernelrl/values.hpp>
#include <type_traits>
#include <utility>

#include "plugins/datasets/records/record_file.hpp"

namespace krl::records {
namespace {

constexpr std::int64_t kRowsAtATime = 256;

nlohmann::json json_of(const arrow::Array& array, std::int64_t i);

nlohmann::json json_of_list(const arrow::Array& values, std::int64_t from, std::int64_t to) {
  nlohmann::json list = nlohmann::json::array();
  for (std::int64_t i = from; i < to; ++i) list.push_back(json_of(values, i));
  return list;
}

// Keys that are no texts become their JSON.
nlohmann::json json_of_map(const arrow::MapArray& maps, std::int64_t i) {
  nlohmann::json object = nlohmann::json::object();
  for (std::int64_t e = maps.value_offset(i); e < maps.value_offset(i + 1); ++e) {
    const nlohmann::json key = json_of(*maps.keys(), e);
    object[key.is_string() ? key.get<std::string>() : key.dump()] = json_of(*maps.items(), e);
  }
  return object;
}

// Converts element `i` of an array by its type. Types without an equivalent in JSON are texts, as
// Arrow prints them.
struct JsonOfElement {
  std::int64_t i;
  nlohmann::json json = {};

  template <class Array>
  arrow::Status Visit(const Array& array) {
    using Type = typename Array::TypeClass;
    constexpr bool is_number =
        arrow::is_boolean_type<Type>::value || arrow::is_integer_type<Type>::value ||
        std::is_same_v<Type, arrow::FloatType> || std::is_same_v<Type, arrow::DoubleType>;
    constexpr bool is_list = std::is_same_v<Array, arrow::ListArray> ||
                             std::is_same_v<Array, arrow::LargeListArray> ||
                             std::is_same_v<Array, arrow::FixedSizeListArray>;
    if constexpr (is_number) {
      json = array.Value(i);
    } else if constexpr (arrow::is_base_binary_type<Type>::value) {
      json = std::string(array.GetView(i));
    } else if constexpr (is_list) {
      json = json_of_list(*array.values(), array.value_offset(i), array.value_offset(i + 1));
    } else if constexpr (std::is_same_v<Array, arrow::MapArray>) {
      json = json_of_map(array, i);
    } else if constexpr (std::is_same_v<Array, arrow::DictionaryArray>) {
      json = json_of(*array.dictionary(), array.GetValueIndex(i));
    } else if constexpr (std::is_same_v<Array, arrow::StructArray>) {
      json = nlohmann::json::object();
      for (int f = 0; f < array.num_fields(); ++f)
        json[array.type()->field(f)->name()] = json_of(*array.field(f), i);
    } else if (const auto scalar = array.GetScalar(i); scalar.ok()) {
      json = (*scalar)->ToString();
    }
    return arrow::Status::OK();
  }
};

nlohmann::json json_of(const arrow::Array& array, std::int64_t i) {
  if (array.IsNull(i)) return nullptr;
  JsonOfElement element{i};
  static_cast<void>(arrow::VisitArrayInline(array, &element));
  return element.json;
}

class Parquet final : public RecordFile {
 public:
  explicit Parquet(const std::filesystem::path& file) : name_(file.string()) {
    const auto refuse = [this](const arrow::Status& status) {
      throw Failure(KRL_INVALID_ARGUMENT, name_ + ": " + status.message());
    };
    auto in = arrow::io::ReadableFile::Open(name_);
    if (!in.ok()) refuse(in.status());
    parquet::arrow::FileReaderBuilder builder;
    if (const arrow::Status opened = builder.Open(*in); !opened.ok()) refuse(opened);
    parquet::ArrowReaderProperties properties;
    properties.set_batch_size(kRowsAtATime);
    properties.set_pre_buffer(false);  // pre-buffering would hold whole row groups
    builder.properties(properties);
    if (const arrow::Status built = builder.Build(&reader_); !built.ok()) refuse(built);
    if (const arrow::Status read = reader_->GetSchema(&schema_); !read.ok()) refuse(read);
    std::uint64_t begin = 0;
    const auto metadata = reader_->parquet_reader()->metadata();
    for (int group = 0; group < metadata->num_row_groups(); ++group) {
      first_rows_.push_back(begin);
      begin += static_cast<std::uint64_t>(metadata->RowGroup(group)->num_rows());
    }
    first_rows_.push_back(begin);
  }

  std::vector<std::string> columns() const override { return schema_->field_names(); }

  void scan(const std::set<std::string>& columns, const Visit& visit,
            const Complain& complain) override {
    choose(columns);
    for (std::size_t group = 0; group + 1 < first_rows_.size(); ++group) {
      try {
        for (open(group); next();) visit_batch(visit);
      } catch (const Failure& failure) {
        const std::uint64_t end = first_rows_[group + 1];
        complain(std::string(failure.what()) + "; its rows " + std::to_string(row_ + size()) +
                 " to " + std::to_string(end - 1) + " are left out");
      }
    }
    batch_ = nullptr;
  }

  nlohmann::json read(std::uint64_t row) override {
    if (batch_ == nullptr || row < row_ || row >= first_rows_[group_ + 1]) {
      const auto after = std::upper_bound(first_rows_.begin(), first_rows_.end(), row);
      open(static_cast<std::size_t>(after - first_rows_.begin()) - 1);
      next();
    }
    while (batch_ != nullptr && row >= row_ + size()) next();
    if (batch_ == nullptr)
      throw Failure(KRL_UNAVAILABLE, name_ + ": row " + std::to_string(row) + " is gone");
    return record(static_cast<std::int64_t>(row - row_));
  }

 private:
  void choose(const std::set<std::string>& columns) {
    chosen_.clear();
    // Leaves of the schema; a column with structure has several.
    const auto* const leaves = reader_->parquet_reader()->metadata()->schema();
    for (int i = 0; i < leaves->num_columns(); ++i) {
      const auto path = leaves->Column(i)->path()->ToDotVector();
      if (columns.contains(path.front())) chosen_.push_back(i);
    }
  }

  [[noreturn]] void fail(const arrow::Status& status) const {
    throw Failure(KRL_UNAVAILABLE,
                  name_ + ": row group " + std::to_string(group_) + ": " + status.message());
  }

  void open(std::size_t group) {
    group_ = group;
    row_ = first_rows_[group];
    batch_ = nullptr;
    auto opened = reader_->GetRecordBatchReader({static_cast<int>(group)}, chosen_);
    if (!opened.ok()) fail(opened.status());
    batches_ = std::move(*opened);
  }

  std::uint64_t size() const {
    return batch_ == nullptr ? 0 : static_cast<std::uint64_t>(batch_->num_rows());
  }

  // Advances to the next batch of the row group. Returns false if there is none.
  bool next() {
    row_ += size();
    batch_ = nullptr;
    if (const arrow::Status read = batches_->ReadNext(&batch_); !read.ok()) fail(read);
    return batch_ != nullptr;
  }

  nlohmann::json record(std::int64_t i) const {
    nlohmann::json object = nlohmann::json::object();
    for (int c = 0; c < batch_->num_columns(); ++c)
      object[batch_->schema()->field(c)->name()] = json_of(*batch_->column(c), i);
    return object;
  }

  void visit_batch(const Visit& visit) const {
    for (std::int64_t i = 0; i < batch_->num_rows(); ++i)
      visit(row_ + static_cast<std::uint64_t>(i), record(i));
  }

  std::string name_;
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::shared_ptr<arrow::Schema> schema_;
  std::vector<std::uint64_t> first_rows_;  // first row of each row group, and the total
  std::vector<int> chosen_;
  // The position of the last scan or read.
  std::size_t group_ = 0;
  std::unique_ptr<arrow::RecordBatchReader> batches_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::uint64_t row_ = 0;  // the first one of batch_
};

}  // namespace

std::unique_ptr<RecordFile> open_parquet(const std::filesystem::path& file) {
  return std::make_unique<Parquet>(file);
}

}  // namespace krl::records
