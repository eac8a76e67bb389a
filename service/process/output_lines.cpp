#include "service/process/output_lines.hpp"

#include <fstream>
#include <utility>

namespace krl::service {

Result<std::uintmax_t> OutputLines::read(const std::string& file, const OutputFormat& format,
                                         const Use& use) {
  std::error_code ignored;
  std::ifstream in(file, std::ios::binary);
  if (!in && std::filesystem::exists(file, ignored)) return invalid(file + ": cannot be read");
  std::uintmax_t size = 0;
  bool known = false;
  std::string text;  // in the end what follows the last whole line
  while (std::getline(in, text) && !in.eof()) {
    size += text.size() + 1;
    known = use(Json::parse(text, nullptr, false)) || known;
  }
  const std::string head = "{\"" + format.first_key + "\":\"";
  if ((known || size == 0) && (text.starts_with(head) || head.starts_with(text))) return size;
  return invalid(file + " holds other things than " + format.contents + "; name another file");
}

Result<OutputLines> OutputLines::open(const std::string& file, const OutputFormat& format,
                                      const Use& use) {
  KRL_ASSIGN(const std::uintmax_t size, read(file, format, use));
  KRL_ASSIGN(LineFile lines, LineFile::open(file, size, real_file_system()));
  return OutputLines(std::move(lines));
}

Status OutputLines::append(const Json& line) {
  return file_.append(line.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace krl::service
