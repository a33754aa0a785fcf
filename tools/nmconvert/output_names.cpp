#include "nmconvert/output_names.h"

#include <filesystem>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace nmb::tools {

namespace {

namespace fs = std::filesystem;

std::string ending_of(const std::string& to) {
  return to == "nmb" ? ".nmb" : to == "hdf5" ? ".h5" : ".nc";
}

std::string quoted(const std::string& name) { return "\"" + name + "\""; }

Status check_distinct(const std::vector<Conversion>& conversions) {
  std::unordered_map<std::string_view, std::size_t> first;
  std::string problem;
  std::size_t more = 0;
  for (std::size_t i = 0; i < conversions.size(); ++i) {
    const auto [it, is_new] = first.emplace(conversions[i].output, i);
    if (is_new) continue;
    if (problem.empty())
      problem = quoted(conversions[it->second].input) + " and " + quoted(conversions[i].input) +
                " have the same output " + quoted(conversions[i].output);
    else
      ++more;
  }
  if (more > 0) problem += "; " + std::to_string(more) + " more such inputs";
  return problem.empty() ? Status() : Status(Code::kUsage, problem + "; nothing was written");
}

}  // namespace

Result<std::string> output_name(const std::string& input, const std::string& folder,
                                const std::string& ending) {
  if (input.find('\0') != std::string::npos)
    return Status(Code::kUsage, "the name " + quoted(input) +
                                    " contains a NUL; use -0 for lists of names that end with NUL");
  const fs::path path = fs::path(input).lexically_normal().relative_path();
  auto part = path.begin();
  while (part != path.end() && *part == "..") ++part;
  fs::path below;
  for (; part != path.end(); ++part)
    if (!part->empty()) below /= *part;
  if (below.empty() || below == ".")
    return Status(Code::kUsage, quoted(input) + " is not the name of a file");
  return (fs::path(folder) / below.parent_path() / (below.stem().string() + ending)).string();
}

Result<std::vector<Conversion>> plan_conversions(const std::vector<std::string>& inputs,
                                                 const std::string& folder, const std::string& to,
                                                 const std::optional<std::string>& block) {
  std::vector<Conversion> conversions;
  conversions.reserve(inputs.size());
  for (const std::string& input : inputs) {
    Conversion conversion{input, {}, to, block};
    if (to.empty() && !block && !input.ends_with(".nmb")) conversion.to = "nmb";
    NMB_ASSIGN(conversion.output, output_name(input, folder, ending_of(conversion.to)));
    conversions.push_back(std::move(conversion));
  }
  NMB_TRY(check_distinct(conversions));
  return conversions;
}

}  // namespace nmb::tools
