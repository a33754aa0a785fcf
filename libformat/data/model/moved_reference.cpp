#include "model/moved_reference.h"

#include "wire/items.h"

namespace nmb {

Result<std::optional<std::vector<std::byte>>> moved_reference(ReferenceKind kind,
                                                              std::span<const std::byte> bytes,
                                                              const PathMap& map) {
  std::vector<std::byte> out;
  ItemsOut items(&out);
  if (kind == ReferenceKind::kObject) {
    const std::optional<std::string> to =
        map({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (!to) return std::optional<std::vector<std::byte>>();
    items.put(std::string_view(*to));
    return std::optional(std::move(out));
  }
  ItemsIn in(bytes, 0);
  const std::string path = in.text("R-XT-1");
  const std::span<const std::byte> selection = in.take(in.remaining(), "R-XT-1");
  if (!in.ok()) return in.status();
  const std::optional<std::string> to = map(path);
  if (!to) return std::optional<std::vector<std::byte>>();
  items.put_text(*to);
  items.put(selection);
  return std::optional(std::move(out));
}

}  // namespace nmb
