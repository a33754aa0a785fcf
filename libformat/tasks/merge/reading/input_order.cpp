#include "merge/reading/input_order.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "files/files.h"
#include "merge/reading/classic_form.h"
#include "merge/reading/input_reader.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "parallel/outbox.h"

namespace nmb {

namespace {

// Returns the first value of a variable. Returns nullopt if the block has no such variable or if
// the variable has no values.
Result<std::optional<double>> first_value(const InputBlock& block, std::string_view name) {
  NMB_ASSIGN(const ClassicForm form, classic_form(block, std::make_shared<SourcePool>(1)));
  const auto id = form.dataset.metadata.find_variable(name);
  if (!id) return std::optional<double>();
  NMB_ASSIGN(const VariableShape shape, form.dataset.shape(*id));
  Hyperslab slab;
  slab.start.assign(shape.lengths.size(), 0);
  slab.count.assign(shape.lengths.size(), 1);
  if (std::ranges::find(shape.lengths, std::uint64_t{0}) != shape.lengths.end())
    return std::optional<double>();
  double value = 0;
  NMB_TRY(form.dataset.read(*id, slab, std::span(&value, 1)));
  return std::optional(value);
}

Result<double> value_in(std::size_t index, const std::string& path, const std::string& variable,
                        ExternalPaths external) {
  const SplitPath wanted = split_path(variable);
  NMB_ASSIGN(Source file, FileSource::open(path));
  std::vector<std::string> warnings;  // ignored, because warnings are reported when the input is
                                      // planned
  PackOptions merge;
  merge.external = external;
  merge.keep_statistics = false;
  InputReader reader({merge, kCachedBytesOfInput}, &warnings);
  std::optional<double> found;
  NMB_TRY(reader.read(index, std::move(file), [&](InputBlock& block) -> Result<bool> {
    if (block.group != wanted.parent) return true;
    NMB_ASSIGN(found, first_value(block, wanted.name));
    return false;
  }));
  if (found && !std::isnan(*found)) return *found;
  return Status(Code::kConflict, path, kNoOffset, "",
                "found no value of " + in_quotes(variable) + " to sort by");
}

Result<std::vector<std::uint64_t>> order_of(const std::vector<std::string>& inputs,
                                            const std::string& variable, ExternalPaths external) {
  std::vector<double> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Result<double> value = value_in(i, inputs[i], variable, external);
    if (!value.ok()) return value.status().in_file(inputs[i]);
    values.push_back(*value);
  }
  std::vector<std::uint64_t> order(inputs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::uint64_t i) { return values[i]; });
  return order;
}

}  // namespace

Status sort_by_values(Communicator& ranks, const std::string& variable, ExternalPaths external,
                      std::vector<std::string>* inputs) {
  std::pair<Status, std::vector<std::uint64_t>> order;
  if (ranks.rank() == 0) {
    Result<std::vector<std::uint64_t>> found = order_of(*inputs, variable, external);
    order.first = found.status();
    if (found.ok()) order.second = *std::move(found);
  }
  NMB_TRY(broadcast_fields(ranks, 0, &order));
  NMB_TRY(order.first);
  std::vector<std::string> sorted;
  for (const std::uint64_t i : order.second) sorted.push_back((*inputs)[i]);
  *inputs = std::move(sorted);
  return {};
}

std::vector<std::pair<std::size_t, std::size_t>> repeated_files(
    const std::vector<std::string>& paths) {
  std::map<std::pair<dev_t, ino_t>, std::size_t> known;
  std::vector<std::pair<std::size_t, std::size_t>> repeated;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    struct stat file {};
    if (::stat(paths[i].c_str(), &file) != 0) continue;
    const auto [first, is_new] = known.try_emplace({file.st_dev, file.st_ino}, i);
    if (!is_new) repeated.emplace_back(first->second, i);
  }
  return repeated;
}

}  // namespace nmb
