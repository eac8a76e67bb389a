// kernelrl-parquet LINES.jsonl FILE.parquet NAME:TYPE…: converts JSON lines with these columns
// (text, integer, number or bool; null where a value is missing) into Parquet, block by block.
#include <arrow/api.h>
#include <arrow/io/file.h>
#include <arrow/json/reader.h>
#include <parquet/arrow/writer.h>

#include <cstdio>
#include <map>
#include <string>
#include <string_view>

namespace {

constexpr std::int32_t kBlockBytes = 16 << 20;  // also the longest line

arrow::Result<std::shared_ptr<arrow::Schema>> schema_of(int n, char** columns) {
  static const std::map<std::string_view, std::shared_ptr<arrow::DataType>> kTypes = {
      {"text", arrow::utf8()},
      {"integer", arrow::int64()},
      {"number", arrow::float64()},
      {"bool", arrow::boolean()}};
  arrow::FieldVector fields;
  for (int i = 0; i < n; ++i) {
    const std::string_view column = columns[i];
    const std::size_t colon = column.find(':');
    const auto type = kTypes.find(column.substr(std::min(colon + 1, column.size())));
    if (colon == column.npos || type == kTypes.end())
      return arrow::Status::Invalid("'", column, "' is not NAME:TYPE");
    fields.push_back(arrow::field(std::string(column.substr(0, colon)), type->second));
  }
  return arrow::schema(fields);
}

arrow::Status convert(const char* lines, const char* file,
                      const std::shared_ptr<arrow::Schema>& schema) {
  ARROW_ASSIGN_OR_RAISE(const auto in, arrow::io::ReadableFile::Open(lines));
  ARROW_ASSIGN_OR_RAISE(const auto out, arrow::io::FileOutputStream::Open(file));
  const auto properties =
      parquet::WriterProperties::Builder().compression(arrow::Compression::ZSTD)->build();
  ARROW_ASSIGN_OR_RAISE(
      const auto writer,
      parquet::arrow::FileWriter::Open(*schema, arrow::default_memory_pool(), out, properties));
  ARROW_ASSIGN_OR_RAISE(const std::int64_t size, in->GetSize());
  if (size > 0) {  // Arrow's reader refuses an empty file
    auto reading = arrow::json::ReadOptions::Defaults();
    reading.block_size = kBlockBytes;
    auto parsing = arrow::json::ParseOptions::Defaults();
    parsing.explicit_schema = schema;
    parsing.unexpected_field_behavior = arrow::json::UnexpectedFieldBehavior::Error;
    ARROW_ASSIGN_OR_RAISE(const auto reader,
                          arrow::json::StreamingReader::Make(in, reading, parsing));
    for (std::shared_ptr<arrow::RecordBatch> batch;;) {
      ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
      if (batch == nullptr) break;
      ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*batch));
    }
  }
  ARROW_RETURN_NOT_OK(writer->Close());
  return out->Close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: kernelrl-parquet LINES.jsonl FILE.parquet NAME:TYPE…\n", stderr);
    return 2;
  }
  const auto schema = schema_of(argc - 3, argv + 3);
  const arrow::Status status = schema.ok() ? convert(argv[1], argv[2], *schema) : schema.status();
  if (status.ok()) return 0;
  std::fprintf(stderr, "kernelrl-parquet: error: %s\n", status.message().c_str());
  return 1;
}
