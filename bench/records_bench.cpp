// Rows per second of reading Parquet and JSON lines, and the memory that it takes.
//
//   build/bench/bench/records_bench [ROWS]     default: 1000000
//
// Writes ROWS records of about 1 KB, the code of a kernel and some figures, scans them under a
// condition as the dataset `records` does, and then reads each in turn.
#include <arrow/api.h>
#include <arrow/io/file.h>
#include <parquet/arrow/writer.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "plugins/datasets/records/record_file.hpp"

namespace {

namespace fs = std::filesystem;

std::string code_of(int row) {
  std::string code = "__global__ void kernel_" + std::to_string(row) + "(const float* x) {\n";
  for (int i = 0; i < 24; ++i)
    code += "  sum += x[" + std::to_string((row * 7919 + i * 104729) % 1000003) + "] * 0.5f;\n";
  return code + "}\n";
}

double speedup_of(int row) { return (row % 200) / 100.0; }

void check(const arrow::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "records_bench: %s\n", status.ToString().c_str());
  std::exit(1);
}

void write_parquet(const fs::path& file, int rows) {
  const auto schema = arrow::schema(
      {arrow::field("code", arrow::utf8()), arrow::field("speedup", arrow::float64())});
  const auto out = *arrow::io::FileOutputStream::Open(file.string());
  const auto writer = *parquet::arrow::FileWriter::Open(*schema, arrow::default_memory_pool(), out);
  constexpr int kRowsInAGroup = 20'000;
  for (int begin = 0; begin < rows; begin += kRowsInAGroup) {
    arrow::StringBuilder code;
    arrow::DoubleBuilder speedup;
    for (int row = begin; row < std::min(begin + kRowsInAGroup, rows); ++row) {
      check(code.Append(code_of(row)));
      check(speedup.Append(speedup_of(row)));
    }
    check(writer->WriteTable(*arrow::Table::Make(schema, {*code.Finish(), *speedup.Finish()}),
                             kRowsInAGroup));
  }
  check(writer->Close());
  check(out->Close());
}

void write_json_lines(const fs::path& file, int rows) {
  std::ofstream out(file);
  for (int row = 0; row < rows; ++row)
    out << nlohmann::json{{"code", code_of(row)}, {"speedup", speedup_of(row)}}.dump() << '\n';
}

long peak_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

void measure(const fs::path& file) {
  using Clock = std::chrono::steady_clock;
  const auto records = krl::records::open_record_file(file);
  const auto start = Clock::now();
  std::vector<std::uint64_t> wanted;
  std::size_t all = 0;
  records->scan(
      {"code", "speedup"},
      [&](std::uint64_t position, const nlohmann::json& record) {
        ++all;
        if (record["speedup"] > 1.0) wanted.push_back(position);
      },
      [](const std::string& what) { std::fprintf(stderr, "%s\n", what.c_str()); });
  const auto scanned = Clock::now();
  std::size_t bytes = 0;
  for (const std::uint64_t position : wanted)
    bytes += records->read(position)["code"].get_ref<const std::string&>().size();
  const double scan = std::chrono::duration<double>(scanned - start).count();
  const double read = std::chrono::duration<double>(Clock::now() - scanned).count();
  std::printf(
      "%-8s %6.0f MiB  scan %8.0f rows/s  read %8.0f rows/s (%zu MiB of code)  peak %ld MiB\n",
      file.extension().c_str(), static_cast<double>(fs::file_size(file)) / (1 << 20),
      static_cast<double>(all) / scan, static_cast<double>(wanted.size()) / read, bytes >> 20,
      peak_mib());
}

}  // namespace

int main(int argc, char** argv) {
  const int rows = argc > 1 ? std::atoi(argv[1]) : 1'000'000;
  const fs::path folder = fs::temp_directory_path() / "kernelrl-records-bench";
  fs::create_directories(folder);
  write_parquet(folder / "rows.parquet", rows);
  write_json_lines(folder / "rows.jsonl", rows);
  std::printf("%d rows written; peak so far %ld MiB\n", rows, peak_mib());
  measure(folder / "rows.parquet");
  measure(folder / "rows.jsonl");
  fs::remove_all(folder);
}
