// abi.h as text, taken apart far enough to check its rules.
#pragma once

#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace krl {

struct AbiField {
  std::string declaration;  // "const krl_case* const* cases", "krl_status (*score)(…)"
  std::string name;
  bool is_function = false;
};

struct AbiStruct {
  std::string name;
  std::vector<AbiField> fields;
};

inline std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Without comments, every run of white space one blank.
inline std::string abi_header_code() {
  std::string text = read_text(KERNELRL_SOURCE_DIR "/sdk/include/kernelrl/abi.h");
  for (std::size_t begin; (begin = text.find("/*")) != std::string::npos;)
    text.erase(begin, text.find("*/", begin) + 2 - begin);
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

// "uint32_t struct_size, tier" becomes two fields.
inline std::vector<AbiField> abi_fields(const std::string& declaration) {
  std::smatch match;
  if (std::regex_search(declaration, match, std::regex("\\(\\*(\\w+)\\)\\(")))
    return {{declaration, match[1], true}};
  std::vector<AbiField> fields;
  const std::string type =
      declaration.substr(0, declaration.find_last_of(" *", declaration.find(',')) + 1);
  std::stringstream names(declaration.substr(type.size()));
  for (std::string name; std::getline(names, name, ',');) {
    name.erase(0, name.find_first_not_of(' '));
    fields.push_back({type + name, name});
  }
  return fields;
}

inline std::vector<AbiStruct> abi_structs() {
  const std::string code = abi_header_code();
  const std::regex definition("typedef struct (krl_\\w+) \\{([^}]*)\\}");
  std::vector<AbiStruct> structs;
  for (std::sregex_iterator at(code.begin(), code.end(), definition), end; at != end; ++at) {
    AbiStruct found{(*at)[1], {}};
    std::stringstream body((*at)[2].str());
    for (std::string declaration; std::getline(body, declaration, ';');) {
      const std::size_t start = declaration.find_first_not_of(' ');
      if (start == std::string::npos) continue;
      for (AbiField& field : abi_fields(declaration.substr(start)))
        found.fields.push_back(std::move(field));
    }
    structs.push_back(std::move(found));
  }
  return structs;
}

}  // namespace krl
