#include "common/options/slab.h"

#include <charconv>
#include <optional>
#include <string>
#include <vector>

namespace nmb::tools {
namespace {

// Returns the parts of `text` between separators: N separators give N + 1 parts.
std::vector<std::string_view> parts_of_slab(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find(separator)) != text.npos; text.remove_prefix(end + 1))
    parts.push_back(text.substr(0, end));
  parts.push_back(text);
  return parts;
}

std::optional<std::uint64_t> index_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

// where: the shape of the variable, or empty.
Status wrong_slab(std::string_view found, const std::string& expected, const std::string& where) {
  return Status(Code::kUsage,
                "--slab: found \"" + std::string(found) + "\", expected " + expected + where);
}

std::string shape_text(std::span<const std::uint64_t> lengths) {
  std::string shape;
  for (const std::uint64_t length : lengths)
    shape += (shape.empty() ? "" : " x ") + std::to_string(length);
  return shape.empty() ? "; the variable is a scalar" : "; the shape is " + shape;
}

Result<SlabOfDimension> parse_dimension(std::string_view text, const std::string& where) {
  const std::vector<std::string_view> parts = parts_of_slab(text, ':');
  std::optional<std::uint64_t> values[3];
  if (parts.size() > 3) return wrong_slab(text, "START:COUNT:STRIDE", where);
  for (std::size_t part = 0; part < parts.size(); ++part) {
    values[part] = index_of(parts[part]);
    if (!values[part] && !parts[part].empty()) return wrong_slab(text, "START:COUNT:STRIDE", where);
  }
  SlabOfDimension out{values[0].value_or(0), values[1], values[2].value_or(1)};
  if (parts.size() == 1 && values[0]) out.count = 1;
  if (out.stride == 0) return wrong_slab(text, "a stride of at least 1", where);
  return out;
}

}  // namespace

Result<SlabOfDimension> parse_slab(std::string_view text) { return parse_dimension(text, ""); }

Result<Hyperslab> parse_slab(std::string_view text, std::span<const std::uint64_t> lengths) {
  const std::vector<std::string_view> dimensions =
      text.empty() ? std::vector<std::string_view>() : parts_of_slab(text, ',');
  const std::string where = shape_text(lengths);
  if (dimensions.size() != lengths.size())
    return wrong_slab(text, "selections of " + std::to_string(lengths.size()) + " dimensions",
                      where);
  Hyperslab slab;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    NMB_ASSIGN(const SlabOfDimension one, parse_dimension(dimensions[i], where));
    const auto [start, wanted, stride] = one;
    const bool is_index = wanted && dimensions[i].find(':') == dimensions[i].npos;
    if (start > lengths[i] || (is_index && start == lengths[i]))
      return wrong_slab(dimensions[i], "a start below " + std::to_string(lengths[i]), where);
    const std::uint64_t rest = lengths[i] - start;
    const std::uint64_t most = rest / stride + (rest % stride != 0 ? 1 : 0);
    const std::uint64_t count = wanted.value_or(most);
    if (count > most)
      return wrong_slab(dimensions[i], "a count of at most " + std::to_string(most), where);
    slab.start.push_back(start);
    slab.count.push_back(count);
    slab.stride.push_back(stride);
  }
  return slab;
}

Hyperslab whole_slab(std::span<const std::uint64_t> lengths) {
  Hyperslab slab;
  slab.start.assign(lengths.size(), 0);
  slab.count.assign(lengths.begin(), lengths.end());
  slab.stride.assign(lengths.size(), 1);
  return slab;
}

}  // namespace nmb::tools
