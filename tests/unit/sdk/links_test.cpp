// The links of the documents lead to files and headings that exist.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace krl {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = KERNELRL_SOURCE_DIR;

struct Page {
  std::string text;  // without code
  std::set<std::string> anchors;
};

// The anchor of a heading, as GitHub makes it.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    if (c == ' ' || c == '-' || c == '_') {
      anchor += c == ' ' ? '-' : c;
    } else if (static_cast<unsigned char>(c) >= 0x80 ||
               std::isalnum(static_cast<unsigned char>(c))) {
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return anchor;
}

Page read_page(const fs::path& path) {
  static const std::regex kInlineCode("`[^`]*`"), kHeading("#+ +(.*)");
  std::ifstream file(path);
  Page page;
  bool code = false;
  for (std::string line; std::getline(file, line);) {
    if (line.find("```") == line.find_first_not_of(' ') && !line.empty()) {
      code = !code;
    } else if (!code) {
      std::smatch heading;
      if (std::regex_match(line, heading, kHeading)) page.anchors.insert(anchor_of(heading[1]));
      page.text += std::regex_replace(line, kInlineCode, "") + "\n";
    }
  }
  return page;
}

std::map<fs::path, Page> all_pages() {
  std::map<fs::path, Page> pages;
  const auto add = [&](const fs::directory_entry& entry) {
    if (entry.path().extension() == ".md") pages[entry.path()] = read_page(entry.path());
  };
  for (const auto& entry : fs::directory_iterator(kRoot)) add(entry);
  for (const char* folder : {"docs", "sdk/docs", "bench", "tests", "clients"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) add(entry);
  return pages;
}

TEST(Links, LeadToFilesAndHeadings) {
  static const std::regex kLink("\\]\\(([^)\\s#]*)#?([^)\\s]*)\\)");
  const std::map<fs::path, Page> pages = all_pages();
  std::size_t checked = 0;
  for (const auto& [path, page] : pages) {
    for (std::sregex_iterator link(page.text.begin(), page.text.end(), kLink), end; link != end;
         ++link) {
      const std::string file = (*link)[1], anchor = (*link)[2];
      if (file.find("://") != std::string::npos) continue;
      const fs::path target = file.empty() ? path : (path.parent_path() / file).lexically_normal();
      EXPECT_TRUE(fs::exists(target)) << path << " links to " << file;
      if (const auto found = pages.find(target); !anchor.empty() && found != pages.end()) {
        EXPECT_EQ(found->second.anchors.count(anchor), 1u)
            << path << " links to " << file << "#" << anchor;
      }
      ++checked;
    }
  }
  EXPECT_GE(checked, 200u);
}

}  // namespace
}  // namespace krl
