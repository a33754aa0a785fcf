#include "common/printing/history_line.h"

#include <filesystem>

#include "common/printing/units.h"
#include "model/text.h"

namespace nmb::tools {

std::string history_line(std::string_view tool, const Json& options,
                         std::span<const std::string> inputs) {
  std::string line = std::string(tool) + " " NMB_VERSION;
  for (const auto& [name, value] : options.items()) {
    line += " --" + name;
    if (value.is_string()) line += " " + value.get<std::string>();
  }
  const auto name_of = [](const std::string& path) {
    return printable(std::filesystem::path(path).filename().string());
  };
  const std::size_t count = inputs.size();
  line += ": " + counted(count, "file") + ": " + name_of(inputs.front());
  if (count > 1) line += (count == 2 ? " and " : " to ") + name_of(inputs.back());
  return line;
}

}  // namespace nmb::tools
