// A file that lies beside another for a while (see temporary_name.h).
#include "common/temporary_name.h"

#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "nmb/files.h"

namespace nmb::tools {

Result<TemporaryName> TemporaryName::beside(const std::string& path, std::string_view ending,
                                            Communicator& ranks) {
  std::string name = hidden_name(path);
  name += ending;
  const auto bytes = std::as_bytes(std::span(name));
  std::vector<std::byte> of_root(bytes.begin(), bytes.end());
  NMB_TRY(ranks.broadcast(0, &of_root));
  return TemporaryName(std::string(reinterpret_cast<const char*>(of_root.data()), of_root.size()),
                       ranks.rank() == 0);
}

TemporaryName::TemporaryName(TemporaryName&& other) noexcept
    : path_(std::move(other.path_)), owns_(std::exchange(other.owns_, false)) {}

TemporaryName::~TemporaryName() {
  std::error_code none;
  if (owns_) std::filesystem::remove(path_, none);
}

}  // namespace nmb::tools
