#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "service/kernels/emulation.hpp"

namespace krl::cli {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

std::string index_text(const Json& index) {
  return fmt::format("({}, {}, {})", index[0].get<int>(), index[1].get<int>(), index[2].get<int>());
}

// Text that kernels or their files decide: its control characters, those of C0 and of C1, become "?", so
// that it cannot control the terminal, and its last line gets an end.
std::string printable(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool second = byte >= 0x80 && byte < 0xa0 && i > 0 && text[i - 1] == '\xc2';
    const bool control = (byte < ' ' && byte != '\n' && byte != '\t') || byte == 127 || second;
    if (control) text[i] = '?';
    if (second) text[i - 1] = '?';
  }
  return text.empty() || text.back() == '\n' ? text : text + "\n";
}

// "file.cu:12: error: data_race: …" and the line itself, as compilers write them.
std::string finding_text(const std::string& file, const char* severity, const Json& found) {
  const int line = found["line"];
  std::string text = file + (line > 0 ? fmt::format(":{}", line) : "") +
                     fmt::format(": {}: {}: {}", severity, found["kind"].get<std::string>(),
                                 found["message"].get<std::string>());
  if (found.contains("kernel") && !found["kernel"].get<std::string>().empty()) {
    text += fmt::format(" (kernel {}, block {}, thread {}; {})", found["kernel"].get<std::string>(),
                        index_text(found["block"]), index_text(found["thread"]),
                        found["order"].get<std::string>());
  }
  if (found.contains("source"))
    text += fmt::format("\n{:>5} | {}", line, found["source"].get<std::string>());
  return printable(text);
}

std::string shape_text(const Json& buffer) {
  std::string text;
  for (const Json& size : buffer["shape"])
    text += (text.empty() ? "" : ", ") + std::to_string(size.get<std::int64_t>());
  return buffer["dtype"].get<std::string>() + "[" + text + "]";
}

std::vector<std::string> buffer_row(const Json& buffer) {
  std::string first, range;
  for (const Json& element : buffer["first"]) first += element.get<std::string>() + " ";
  if (buffer.contains("least")) {
    range = fmt::format("{:.6g} to {:.6g}", buffer["least"].get<double>(),
                        buffer["most"].get<double>());
  }
  if (buffer.contains("mean")) range += fmt::format(", mean {:.6g}", buffer["mean"].get<double>());
  if (const auto others = buffer["not_finite"].get<std::int64_t>(); others > 0)
    range += fmt::format("{}{} not finite", range.empty() ? "" : ", ", others);
  return {"  " + buffer["name"].get<std::string>(), shape_text(buffer), range, first};
}

// The counters that say most about a kernel.
constexpr std::array kShownCounters = {"global_load_requests",
                                       "global_store_requests",
                                       "sectors_per_request",
                                       "coalescing",
                                       "bank_conflicts",
                                       "branch_efficiency",
                                       "barriers",
                                       "dram_bytes"};

std::string time_text(const Json& report) {
  const double ns = report["estimated_ns"];
  Rows rows;
  for (const char* name : kShownCounters) {
    const Json& counters = report["counters"];
    if (counters.contains(name))
      rows.push_back(
          {"  " + std::string(name), fmt::format("{:.6g}", counters[name].get<double>())});
  }
  return fmt::format("time\n  {:.4g} µs, estimated for an {}\ncounters\n", ns / 1000,
                     report["gpu"].get<std::string>()) +
         columns(rows);
}

void show_report(const Json& report) {
  const std::string file = report["file"];
  print(printable(report.value("printed", "")));
  if (!report["ok"]) {
    const std::string log = printable(report.value("log", ""));  // it has places of its own
    const bool told = !log.empty() && report["fault"]["kind"] == "compile_error";
    return print(log + (told ? "" : finding_text(file, "error", report["fault"])));
  }
  for (const Json& warning : report["warnings"]) print(finding_text(file, "warning", warning));
  Rows rows;
  for (const Json& buffer : report["buffers"]) rows.push_back(buffer_row(buffer));
  std::string orders;
  for (const Json& order : report["orders"])
    orders += (orders.empty() ? "" : "; ") + order.get<std::string>();
  print("buffers\n" + columns(rows) + time_text(report) + "no fault (" + orders + ")\n");
}

void add_emulation_options(CommandLine& line) {
  line.repeatable(
      "launch", "LAUNCH",
      "'kernel<<<grid, block>>>(arguments)', in Triton 'kernel[(grid,)](arguments)'; the "
      "launches run in their order (repeatable; else those of the file's @launch lines)");
  line.repeatable("buffer", "BUFFER",
                  "NAME=TYPE[SIZES], unset, NAME=TYPE[SIZES]:CONTENTS or NAME=FILE.npy, as in "
                  "x=f32[1024]:normal (repeatable)");
  line.repeatable("value", "NAME=NUMBER", "a number that launches and sizes may name (repeatable)");
  line.repeatable("save", "NAME=FILE.npy",
                  "write a buffer when all launches are done (repeatable)");
  line.option("gpu", "GPU", "the GPU whose limits hold, and for which the time is estimated",
              "H200 SXM");
  line.option("compiler", "NAME", "nvrtc, nvcc, or auto: nvcc for a file with a main function",
              "auto");
  line.repeatable("compiler-option", "OPTION", "an option of the compiler, -DN=4 (repeatable)");
  line.option("seed", "N", "seed of drawn contents and of shuffled orders", "0");
  line.option("timeout", "SECONDS", "processor time of each run", "300");
  line.flag("strict", "warnings count as faults");
  line.flag("once", "run once instead of in several orders of blocks and warps");
  line.flag("json", "print one JSON object");
}

}  // namespace

int emulate_command(const Words& words) {
  CommandLine line(
      "kernelrl emulate FILE --launch LAUNCH --buffer BUFFER…",
      "Runs the kernels of a file, in CUDA C++, PTX or Triton, without a GPU, and reports faults with\n"
      "their lines and threads: races, accesses out of bounds or misaligned, memory that was never\n"
      "written, barriers that not all threads reach. Shows what the buffers hold then, what was printed,\n"
      "counters and an estimated time. The exit code is 3 if there is a fault, or with --strict a warning.\n");
  add_emulation_options(line);
  line.positional({"file"});
  if (const auto over = line.parse(words)) return *over;
  if (!line.has("file")) return line.wrong("name the file of the kernels");
  const auto seed = number_in<std::uint64_t>(line.text("seed"));
  const auto seconds = number_in<double>(line.text("timeout"));
  if (!seed) return line.wrong("--seed takes a whole number, not '" + line.text("seed") + "'");
  if (!seconds || !(*seconds >= 1 && *seconds <= 86400))
    return line.wrong("--timeout takes 1 to 86400 seconds, not '" + line.text("timeout") + "'");
  const std::string compiler = line.text("compiler");
  if (compiler != "auto" && compiler != "nvrtc" && compiler != "nvcc")
    return line.wrong("--compiler is auto, nvrtc or nvcc, not '" + compiler + "'");
  const Json request = {{"file", line.text("file")},
                        {"launches", line.texts("launch")},
                        {"buffers", line.texts("buffer")},
                        {"values", line.texts("value")},
                        {"saved", line.texts("save")},
                        {"gpu", line.text("gpu")},
                        {"compiler", compiler},
                        {"options", line.texts("compiler-option")},
                        {"seed", *seed},
                        {"seconds", *seconds},
                        {"once", line.has("once")}};
  const auto report = emulate(request, child_options());
  if (!report) return cli::report(report.error());
  if (line.has("json")) {
    print_json(*report);
  } else {
    show_report(*report);
  }
  const bool warned =
      line.has("strict") && report->contains("warnings") && !(*report)["warnings"].empty();
  return (*report)["ok"] && !warned ? kDone : kNotRight;
}

}  // namespace krl::cli
