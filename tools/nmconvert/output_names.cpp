// Names of outputs (see output_names.h).
#include "nmconvert/output_names.h"

#include <sys/stat.h>

#include <filesystem>
#include <map>
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

// What a file is, whatever it is called.
using FileIdentity = std::pair<std::uint64_t, std::uint64_t>;

std::optional<FileIdentity> identity(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return FileIdentity{info.st_dev, info.st_ino};
}

Status check_distinct(const std::vector<Conversion>& conversions) {
  std::unordered_map<std::string_view, std::size_t> first;
  std::string problem;
  std::size_t more = 0;
  for (std::size_t i = 0; i < conversions.size(); ++i) {
    const auto [it, is_new] = first.emplace(conversions[i].output, i);
    if (is_new) continue;
    if (problem.empty())
      problem = "found " + quoted(conversions[i].output) + " as the output of " +
                quoted(conversions[it->second].input) + " and of " + quoted(conversions[i].input) +
                ", expected one input for each output";
    else
      ++more;
  }
  if (more > 0) problem += "; " + std::to_string(more) + " more such inputs";
  return problem.empty() ? Status() : Status(Code::kUsage, problem + "; nothing was written");
}

// With -f an output would take the place of an input that is still to be read.
Status check_inputs_stay(const std::vector<Conversion>& conversions, const std::string& report) {
  std::map<FileIdentity, std::size_t> inputs;
  for (std::size_t i = 0; i < conversions.size(); ++i)
    if (const auto found = identity(conversions[i].input)) inputs.emplace(*found, i);
  auto check = [&](const std::string& path, const std::string& what) -> Status {
    const auto found = identity(path);
    const auto it = found ? inputs.find(*found) : inputs.end();
    if (it == inputs.end()) return {};
    return Status(Code::kUsage, "found " + quoted(path) + " as " + what + " and as the input " +
                                    quoted(conversions[it->second].input) +
                                    ", expected two files; nothing was written");
  };
  for (const Conversion& conversion : conversions)
    NMB_TRY(check(conversion.output, "the output of " + quoted(conversion.input)));
  if (report.empty()) return {};
  const std::string report_name = fs::path(report).lexically_normal().string();
  for (const Conversion& conversion : conversions)
    if (fs::path(conversion.output).lexically_normal() == report_name)
      return Status(Code::kUsage, "found " + quoted(report) +
                                      " as the report and as the output of " +
                                      quoted(conversion.input) + ", expected two files");
  return check(report, "the report");
}

}  // namespace

Result<std::string> output_name(const std::string& input, const std::string& folder,
                                const std::string& ending) {
  if (input.find('\0') != std::string::npos)
    return Status(Code::kUsage, "found a NUL in the name " + quoted(input) +
                                    ", expected none; -0 reads lists of names that end with one");
  const fs::path path = fs::path(input).lexically_normal().relative_path();
  auto part = path.begin();
  while (part != path.end() && *part == "..") ++part;
  fs::path below;
  for (; part != path.end(); ++part)
    if (!part->empty()) below /= *part;
  if (below.empty() || below == ".")
    return Status(Code::kUsage, "found " + quoted(input) + ", expected the name of a file");
  return (fs::path(folder) / below.parent_path() / (below.stem().string() + ending)).string();
}

Result<std::vector<Conversion>> plan_conversions(const std::vector<std::string>& inputs,
                                                 const std::string& folder, const std::string& to,
                                                 const std::optional<std::string>& block,
                                                 const std::string& report) {
  std::vector<Conversion> conversions;
  conversions.reserve(inputs.size());
  for (const std::string& input : inputs) {
    Conversion conversion{input, {}, to, block};
    if (to.empty() && !block && !input.ends_with(".nmb")) conversion.to = "nmb";
    NMB_ASSIGN(conversion.output, output_name(input, folder, ending_of(conversion.to)));
    conversions.push_back(std::move(conversion));
  }
  NMB_TRY(check_distinct(conversions));
  NMB_TRY(check_inputs_stay(conversions, report));
  return conversions;
}

}  // namespace nmb::tools
