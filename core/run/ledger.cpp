#include "core/run/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <kernelrl/evaluation_json.hpp>
#include <system_error>

#include "core/base/file_system.hpp"
#include "core/base/hash.hpp"

namespace krl::core {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

// The key of the line that marks records after this round, up to here, as made by a process
// that died.
constexpr std::string_view kResumed = "resumed";

struct Line {
  int round = 0;
  std::string_view key, json;
};

std::string checksum(std::string_view text) { return fmt::format("{:08x}", crc32c(text)); }

std::string make_line(int round, std::string_view key, std::string_view json) {
  const std::string text = fmt::format("{} {} {}", round, key, json);
  return checksum(text) + " " + text;
}

// A line as it was written, or nothing if it was damaged.
std::optional<Line> parse_line(std::string_view text) {
  constexpr std::size_t kChecksum = 8;
  if (text.size() <= kChecksum + 1 || text[kChecksum] != ' ') return std::nullopt;
  const std::string_view rest = text.substr(kChecksum + 1);
  if (text.substr(0, kChecksum) != checksum(rest)) return std::nullopt;
  Line line;
  const char* const end = rest.data() + rest.size();
  const auto number = std::from_chars(rest.data(), end, line.round);
  const std::string_view after(number.ptr, static_cast<std::size_t>(end - number.ptr));
  const std::size_t space = after.find(' ', 1);
  if (number.ec != std::errc() || space == std::string_view::npos) return std::nullopt;
  line.key = after.substr(1, space - 1);
  line.json = after.substr(space + 1);
  return line;
}

// Calls `visit(offset, line text)` for every whole line.
template <class Visit>
void for_each_line(std::string_view text, const Visit& visit) {
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string_view::npos; begin = end + 1)
    if (!visit(begin, text.substr(begin, end - begin))) return;
}

// Verdict and speedup come first, for people who look for them.
std::string to_json(const LedgerRecord& record) {
  const Evaluation& evaluation = record.evaluation;
  const Json json = {{"task", record.task},
                     {"verdict", name_of(evaluation.verdict)},
                     {"speedup", evaluation.speedup()},
                     {"evaluation", nlohmann::json(evaluation)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<LedgerRecord> to_record(const Line& line) {
  try {
    const auto json = nlohmann::json::parse(line.json);
    return LedgerRecord{std::string(line.key), line.round, json.at("task"),
                        json.at("evaluation").get<Evaluation>()};
  } catch (const std::exception& error) {
    return invalid("the ledger's record " + std::string(line.key) +
                   " is not valid: " + error.what());
  }
}

fs::path segment_path(const fs::path& directory, int segment) {
  return directory / fmt::format("{:06}.log", segment);
}

bool has_segment(const fs::path& directory, int segment) {
  std::error_code ignored;
  return fs::exists(segment_path(directory, segment), ignored);
}

}  // namespace

Ledger::Ledger(fs::path directory, FileSystem& files, std::uintmax_t segment_bytes)
    : directory_(std::move(directory)), files_(&files), segment_bytes_(segment_bytes) {}

Result<std::unique_ptr<Ledger>> Ledger::open(const fs::path& directory, int last_round,
                                             FileSystem& files, std::uintmax_t segment_bytes) {
  KRL_TRY(make_directories(files, directory));
  std::unique_ptr<Ledger> ledger(new Ledger(directory, files, segment_bytes));
  KRL_TRY(ledger->load());
  KRL_TRY(ledger->hide_after(last_round));
  return ledger;
}

Status Ledger::load() {
  int last = 0;
  while (has_segment(directory_, last + 1)) KRL_TRY(load_segment(++last));
  if (last == 0) return open_segment(1, 0);
  KRL_ASSIGN(const std::string text, read_file(segment_path(directory_, last)));
  return open_segment(last, size_of_whole_lines(text));
}

Status Ledger::load_segment(int segment) {
  KRL_ASSIGN(const std::string text, read_file(segment_path(directory_, segment)));
  for_each_line(text, [&](std::size_t offset, std::string_view line_text) {
    const std::optional<Line> line = parse_line(line_text);
    if (!line) {
      ++damaged_;
    } else if (line->key == kResumed) {
      forget_after(line->round);
    } else if (!line->key.empty()) {
      const auto length = static_cast<std::uint32_t>(line_text.size());
      places_[std::string(line->key)].push_back({line->round, segment, offset, length});
      ++records_;
    }
    return true;
  });
  return {};
}

Status Ledger::open_segment(int segment, std::uintmax_t size) {
  KRL_ASSIGN(LineFile file, LineFile::open(segment_path(directory_, segment), size, *files_));
  segment_ = segment;
  file_.emplace(std::move(file));
  return {};
}

Status Ledger::hide_after(int last_round) {
  const std::size_t before = records_;
  forget_after(last_round);
  if (records_ == before) return {};
  KRL_TRY(write(last_round, kResumed, "{}"));
  return {};
}

void Ledger::forget_after(int last_round) {
  for (auto entry = places_.begin(); entry != places_.end();) {
    records_ -=
        std::erase_if(entry->second, [&](const Place& place) { return place.round > last_round; });
    entry = entry->second.empty() ? places_.erase(entry) : std::next(entry);
  }
}

Status Ledger::append(const LedgerRecord& record) {
  const bool spaced = record.key.find_first_of(" \n") != std::string::npos;
  if (record.key == kResumed || spaced)
    return invalid("a ledger key must be a hash, not '" + record.key + "'");
  const std::string json = to_json(record);
  const std::lock_guard lock(mutex_);
  KRL_ASSIGN(const Place place,
             explain_full_disk(write(record.round, record.key, json), directory_));
  if (record.key.empty()) return {};
  places_[record.key].push_back(place);
  ++records_;
  return {};
}

Result<Ledger::Place> Ledger::write(int round, std::string_view key, std::string_view json) {
  if (file_->size() >= segment_bytes_) {
    KRL_TRY(file_->sync());
    KRL_TRY(open_segment(segment_ + 1, 0));
  }
  const std::string line = make_line(round, key, json);
  const Place place{round, segment_, file_->size(), static_cast<std::uint32_t>(line.size())};
  KRL_TRY(file_->append(line));
  return place;
}

Status Ledger::sync() {
  const std::lock_guard lock(mutex_);
  return explain_full_disk(file_->sync(), directory_);
}

const Ledger::Place* Ledger::newest(std::string_view key, int before_round) const {
  const auto entry = places_.find(key);
  if (entry == places_.end()) return nullptr;
  const auto& places = entry->second;
  const auto found = std::find_if(places.rbegin(), places.rend(),
                                  [&](const Place& place) { return place.round < before_round; });
  return found == places.rend() ? nullptr : &*found;
}

Result<std::optional<LedgerRecord>> Ledger::find(std::string_view key, int before_round) const {
  Place place{};
  {
    const std::lock_guard lock(mutex_);
    const Place* const found = newest(key, before_round);
    if (found == nullptr) return std::nullopt;
    place = *found;
  }
  const fs::path path = segment_path(directory_, place.segment);
  std::ifstream stream(path, std::ios::binary);
  std::string text(place.length, '\0');
  stream.seekg(static_cast<std::streamoff>(place.offset));
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  const std::optional<Line> line = stream ? parse_line(text) : std::nullopt;
  if (!line)
    return failure(Code::kUnavailable,
                   "cannot read back record " + std::string(key) + " of " + path.string());
  KRL_ASSIGN(LedgerRecord record, to_record(*line));
  return record;
}

std::size_t Ledger::size() const {
  const std::lock_guard lock(mutex_);
  return records_;
}

std::size_t Ledger::damaged() const {
  const std::lock_guard lock(mutex_);
  return damaged_;
}

Status read_ledger(const fs::path& directory,
                   const std::function<bool(const LedgerRecord&)>& visit) {
  // Asked before a segment is read: if the next one is there, this one is complete. Asked after, a
  // writer could have filled it and gone on in between, and its end would be missing.
  bool more = has_segment(directory, 1);
  for (int segment = 1; more; ++segment) {
    more = has_segment(directory, segment + 1);
    bool wanted = true;
    KRL_ASSIGN(const std::string text, read_file(segment_path(directory, segment)));
    for_each_line(text, [&](std::size_t, std::string_view line_text) {
      const std::optional<Line> line = parse_line(line_text);
      if (!line || line->key == kResumed) return true;
      const Result<LedgerRecord> record = to_record(*line);
      return wanted = !record || visit(*record);
    });
    more = more && wanted;
  }
  return {};
}

}  // namespace krl::core
