#include "extent/external_path.h"

#include <filesystem>

#include "model/external_files.h"
#include "model/name_rules.h"
#include "wire/joined_text.h"
#include "wire/system_error.h"

namespace nmb {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongest = 65535;

Result<fs::path> resolved(const fs::path& path) {
  std::error_code error;
  fs::path found = fs::canonical(path, error);
  if (error) return system_error(error.value(), path.string(), "resolve the path");
  return found;
}

}  // namespace

const char* external_path_error(std::string_view path) {
  if (path.size() > kLongest) return "more than 65535 bytes";
  if (path.find('\0') != std::string_view::npos) return "a NUL";
  if (path.find('\\') != std::string_view::npos) return "a backslash";
  bool climbs = true;  // whether all parts so far are ".."
  if (path.starts_with('/')) {
    path.remove_prefix(1);
    climbs = false;
  }
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty()) return "an empty part";
    if (part == ".") return "a part \".\"";
    if (part == ".." && !climbs) return "a part \"..\" after other parts";
    climbs = climbs && part == "..";
    if (slash == std::string_view::npos) return climbs ? "a part \"..\" at its end" : nullptr;
    path.remove_prefix(slash + 1);
  }
}

bool has_drive(std::string_view path) {
  const char letter = path.empty() ? '\0' : path[0];
  return path.size() >= 2 && path[1] == ':' &&
         ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z'));
}

bool leads_out(std::string_view path) {
  return path.starts_with('/') || path.starts_with("../") || has_drive(path);
}

bool is_windows_device(std::string_view part) {
  // Windows ignores the extension of a device name, and blanks before it.
  part = part.substr(0, part.find('.'));
  while (part.ends_with(' ')) part.remove_suffix(1);
  std::string name(part);
  for (char& c : name)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  if (name == "CON" || name == "PRN" || name == "AUX" || name == "NUL") return true;
  if (!name.starts_with("COM") && !name.starts_with("LPT")) return false;
  const std::string_view number = std::string_view(name).substr(3);
  if (number.size() == 1) return number[0] >= '1' && number[0] <= '9';
  // Windows treats superscript digits as digits.
  return number == "\xC2\xB9" || number == "\xC2\xB2" || number == "\xC2\xB3";
}

const char* windows_path_error(std::string_view path) {
  if (has_drive(path)) path.remove_prefix(2);
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.find(':') != std::string_view::npos) return "a part with \":\"";
    if (is_windows_device(part)) return "the name of a device";
    if (slash == std::string_view::npos) return nullptr;
    path.remove_prefix(slash + 1);
  }
}

std::string external_folder(const std::string& path) {
  std::error_code none;
  fs::path file = path;
  if (fs::is_symlink(file, none)) {
    const fs::path target = fs::canonical(file, none);
    if (!target.empty()) file = target;
  }
  const std::string folder = file.parent_path().string();
  return folder.empty() || folder.ends_with('/') ? folder : folder + '/';
}

Result<std::string> external_path(const std::string& input, const std::string& output,
                                  ExternalPaths allowed) {
  NMB_ASSIGN(const fs::path file, resolved(input));
  // Use the folder in which readers will search for the file. If `output` is a symbolic link, this
  // is the folder of the link's target.
  const fs::path of_output = fs::path(external_folder(output)).parent_path();
  NMB_ASSIGN(const fs::path folder, resolved(of_output.empty() ? fs::path(".") : of_output));
  const auto refuse = [&](const std::string& found, const char* expected) {
    return Status(Code::kUnsupported, input, kNoOffset, "",
                  "found " + found + ", expected " + expected);
  };
  std::string path = file.lexically_relative(folder).string();
  if (has_drive(path) && allowed != ExternalPaths::kAny)
    return refuse("a linked file whose name begins with a letter and a colon",
                  "a name that does not begin as the drives of Windows, or ExternalPaths::kAny");
  const bool is_beneath = path != ".." && !leads_out(path) && !path.empty();
  if (!is_beneath && allowed != ExternalPaths::kAny)
    return refuse("a file that is not below the folder of the output, " +
                      nmb::in_quotes(of_output.empty() ? "." : of_output.string()),
                  "a file below it, so that both can be moved together, or ExternalPaths::kAny");
  if (!is_beneath && (fs::path(input).is_absolute() || path.empty())) path = file.string();
  if (const char* error = external_path_error(path))
    return refuse(joined_text("a path of a linked file with ", error), "a path without it");
  return path;
}

}  // namespace nmb
