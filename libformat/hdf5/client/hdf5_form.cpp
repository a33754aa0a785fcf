#include "client/hdf5_form.h"

#include <algorithm>
#include <utility>

#include "client/damaged_chunks.h"
#include "client/decode_group.h"
#include "hdf5_types/hdf5_section.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

constexpr std::uint32_t kScaleOffset = 6;
constexpr std::size_t kUserParameters =
    2;  // the scale type and the factor; HDF5 adds the other parameters

// Returns whether a filter has the parameters that HDF5 before 1.8 wrote: the first of them is not
// a scale type. Newer versions refuse to decode chunks with these parameters.
bool is_replaced(const Filter& filter) {
  constexpr std::uint32_t kLastScaleType = 2;
  return filter.id == kScaleOffset && filter.parameters.size() >= kUserParameters &&
         filter.parameters[0] > kLastScaleType;
}

void add_changes(const LoadedBlock& block, std::vector<Loss>* changes) {
  const std::string group = block.name.empty() ? "" : block.name + "/";
  for (const Storage& storage : block.metadata.extension()->storage)
    if (std::ranges::any_of(storage.filters, is_replaced))
      changes->push_back(
          {joined_text("variable \"", group, block.metadata.variable(storage.variable).name, '"'),
           "HDF5 replaces the parameters of its scaleoffset filter, because a version before 1.8 "
           "wrote them; the chunks stay as they are, and HDF5 cannot decode them with old or new "
           "parameters"});
}

Result<bool> add_undecoded(const LoadedBlock& block, std::vector<Loss>* losses) {
  NMB_ASSIGN(const std::vector<Undecoded> found, undecoded_variables(block));
  for (const Undecoded& one : found)
    losses->push_back(
        {"variable \"/" + one.path + "\"",
         "found values that " + one.why +
             (one.is_lost ? "; written without values; use an undamaged copy of the source"
                          : "; written without values (the original file has them: nmconvert "
                            "--original)")});
  return !found.empty();
}

}  // namespace

void drop_replaced_parameters(Extension* extension) {
  for (Storage& storage : extension->storage)
    for (Filter& filter : storage.filters)
      if (is_replaced(filter)) filter.parameters.resize(kUserParameters);
}

Result<std::vector<std::byte>> user_block(const LoadedBlock& block) {
  std::vector<std::byte> bytes;
  if (!block.metadata.extension()) return bytes;
  NMB_ASSIGN(std::vector<Property> properties, decode_properties(block.metadata.extension()->hdf5));
  for (Property& p : properties)
    if (p.number == Property::Number::kUserBlock) bytes = std::move(p.bytes);
  return bytes;
}

Result<Hdf5Form> Hdf5Form::of(const NamedBlocks& blocks) {
  NMB_ASSIGN(DimensionIds ids, DimensionIds::plan(blocks));
  Hdf5Form form(std::move(ids));
  std::optional<std::string> first;
  bool is_above_all = true;
  std::size_t first_loss = 0;  // position of the loss of the first user block
  NMB_TRY(blocks.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    if (!first) first = entry.name;
    is_above_all = is_above_all &&
                   (first->empty() || entry.name == *first || entry.name.starts_with(*first + "/"));
    if (entry.kind != static_cast<std::uint16_t>(Kind::kExtended)) return true;
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, blocks.block(entry));
    add_changes(*block, &form.changes_);
    NMB_ASSIGN(const bool is_undecoded, add_undecoded(*block, &form.losses_));
    NMB_ASSIGN(const std::vector<DamagedChunks> damaged, marked_chunks(block->metadata));
    if (is_undecoded || !damaged.empty()) form.marked_.insert(entry.name);
    NMB_ASSIGN(const std::vector<std::byte> bytes, user_block(*block));
    if (bytes.empty()) return true;
    form.with_user_block_.insert(entry.name);
    if (form.with_user_block_.size() == 1) first_loss = form.losses_.size();
    form.losses_.push_back(
        {"group \"/" + entry.name + "\"",
         joined_text("a user block of ", bytes.size(),
                     " bytes; an HDF5 file has only one, for its root group; left out")});
    return true;
  }));
  // Only the first block in the order of names can be above all other blocks.
  if (is_above_all && first && form.with_user_block_.contains(*first)) {
    form.user_block_of_ = *first;
    form.losses_.erase(form.losses_.begin() + static_cast<std::ptrdiff_t>(first_loss));
  }
  return form;
}

Result<std::shared_ptr<const LoadedBlock>> Hdf5Form::written(
    std::shared_ptr<const LoadedBlock> block) const {
  NMB_ASSIGN(block, ids_.renumbered(std::move(block)));
  // The root group keeps its user block; other groups lose theirs.
  const bool loses_user_block = !block->name.empty() && with_user_block_.contains(block->name);
  if (!loses_user_block && !marked_.contains(block->name)) return block;
  const auto copy = std::make_shared<LoadedBlock>(*block);
  auto extension = std::make_shared<Extension>(*block->metadata.extension());
  NMB_ASSIGN(const std::vector<Property> properties, decode_properties(extension->hdf5));
  extension->hdf5.clear();
  for (const Property& p : properties)
    if (p.number != Property::Number::kUndecoded && p.number != Property::Number::kDamagedChunks &&
        !(loses_user_block && p.number == Property::Number::kUserBlock))
      append_property(p, &extension->hdf5);
  copy->metadata.set_extension(std::move(extension));
  return std::shared_ptr<const LoadedBlock>(copy);
}

}  // namespace nmb::hdf5
